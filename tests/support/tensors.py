"""Stand-ins for torch tensors that require grad. Their interface raises torch's error until they are detached."""

from __future__ import annotations

from typing import Any


class InterfaceOnly:
    """Device memory of 8 float32 with `__cuda_array_interface__` and `detach`, but without torch's other methods."""

    def __init__(self, address: int, requires_grad: bool = True) -> None:
        self.address, self.requires_grad = address, requires_grad

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.requires_grad:
            raise RuntimeError(
                "Can't get __cuda_array_interface__ on Variable that requires grad. "
                "If gradients aren't required, use var.detach() to get Variable that doesn't require grad."
            )
        return {
            "data": (self.address, False),
            "typestr": "<f4",
            "shape": (8,),
            "strides": None,
            "version": 3,
        }

    def detach(self) -> InterfaceOnly:
        return type(self)(self.address, requires_grad=False)


class GradTensor(InterfaceOnly):
    """All attributes of torch.Tensor that benchguard reads."""

    is_cuda = True
    dtype = "torch.float32"
    shape = (8,)

    def data_ptr(self) -> int:
        return self.address

    def element_size(self) -> int:
        return 4

    def stride(self) -> tuple[int, ...]:
        return (1,)
