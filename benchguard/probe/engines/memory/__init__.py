"""The engine `memory`: bytes, transactions and bank conflicts of each load, store and atomic of a kernel."""
