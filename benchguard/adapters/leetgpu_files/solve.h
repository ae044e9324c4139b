// Submissions that follow LeetGPU's early starting code include this header. They define solve(), so it declares nothing.
