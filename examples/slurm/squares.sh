#!/bin/bash
#SBATCH --job-name=squares
#SBATCH --array=1-4
#SBATCH --ntasks=1
#SBATCH --time=5:00
#SBATCH --requeue
# One task of the array for each number.
n=$SLURM_ARRAY_TASK_ID
echo "$n squared is $((n * n)), on $SLURMD_NODENAME"
sleep 2
