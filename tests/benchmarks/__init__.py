"""How fast and how small the product itself is: `make bench` prints one table.

Not part of `make test`: that a machine is busy is no defect of the code.
"""
