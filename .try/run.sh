
for s in cuda_softmax.cu torch_softmax.py triton_softmax.py; do
  timeout 150 python3 -m benchguard grade .try/softmax.py .try/$s --adapter problem --case large --json $OUT/$s.json 2>&1 | tail -40
done
