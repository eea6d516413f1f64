"""Runs that are interfered with: parts switched off, edges cut, values of other runs put in, gradients taken."""
