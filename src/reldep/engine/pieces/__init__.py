"""Passes over tables that stay in pieces, on the threads of this process or on a cluster."""
