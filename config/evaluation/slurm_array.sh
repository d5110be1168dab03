#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An evaluation as a Slurm job array: each task runs one shard. A task that is requeued goes on with its own file.
#
#   JOB=stack_blocks EPISODES=1000 sbatch --export=ALL slurm_array.sh
#   behavior evaluate merge out/stack_blocks.episodes.shard-*.sqlite --output out/stack_blocks.sqlite
#
# Other numbers of shards: sbatch --array=0-99. Indices begin with 0 and leave none out.
#SBATCH --job-name=evaluate
#SBATCH --array=0-19
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=2
#SBATCH --mem=3G
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --signal=TERM@120
#SBATCH --output=out/evaluate-%A_%a.log
set -eu

# The checkout, the same on all nodes; `make setup` has been run there. SQLite wants a file system with locks.
cd "${BEHAVIOR_CHECKOUT:-$SLURM_SUBMIT_DIR}"
. ./activate
export BEHAVIOR_RUNTIME_DIR="${TMPDIR:-/tmp}/behavior-$SLURM_ARRAY_JOB_ID-$SLURM_ARRAY_TASK_ID"
mkdir -p out

# `exec`, so that Slurm's signal before the time limit reaches it: what was done is kept.
exec behavior evaluate "$JOB" --episodes "${EPISODES:-200}" --seed "${SEED:-0}" \
  --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --memory 2500 ${OPTIONS:-}
