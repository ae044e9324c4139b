import torch


def solution(x, y, rows, columns):
    torch.softmax(x, dim=1, out=y)
