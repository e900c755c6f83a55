#!/usr/bin/env bash
# The installed command runs from a tree that was moved, and prints the version of the package.
. "$(dirname "$0")/lib_downstream.sh"
install_and_move
export PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name afterbay.pc)")
wanted=$(pkg-config --modversion afterbay)
found=$("$prefix/bin/afterbay" --version)
case $found in
  *"$wanted"*) echo "afterbay --version: $found" ;;
  *) echo "afterbay --version says '$found', the package has $wanted" >&2; exit 1 ;;
esac
