// Pi by the area below 4 / (1 + x^2), each process taking every size-th strip.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words) {
  MPI_Init(&count, &words);
  int rank, size, length;
  char name[MPI_MAX_PROCESSOR_NAME];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_processor_name(name, &length);
  const long strips = count > 1 ? atol(words[1]) : 10000000;
  double own = 0, pi = 0;
  for (long i = rank; i < strips; i += size) {
    const double x = (i + 0.5) / strips;
    own += 4 / (1 + x * x) / strips;
  }
  MPI_Reduce(&own, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  printf("process %d of %d on %s\n", rank, size, name);
  if (rank == 0) printf("{\"pi\": %.12f, \"processes\": %d}\n", pi, size);
  MPI_Finalize();
  return 0;
}
