#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs that write fields files are killed and recovered: see _message_kill.py."""
import _message_kill

_message_kill.main("fieldsfile")
