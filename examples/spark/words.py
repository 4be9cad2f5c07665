"""Writes lines to HDFS, counts their words from there, and says on how many nodes the tasks ran."""
import json
import os
import pathlib
import socket
import sys

from pyspark.sql import SparkSession

lines = int(sys.argv[1])
spark = SparkSession.builder.appName("words").getOrCreate()
context = spark.sparkContext
words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"]

written = context.parallelize(range(lines), 8).map(lambda i: f"{words[i % 7]} {words[i % 3]} {i}")
spark.createDataFrame(written.map(lambda line: (line,)), "value string").write.mode("overwrite").text("/words/input")

text = context.textFile("/words/input").cache()
counts = dict(text.flatMap(str.split).filter(lambda word: not word.isdigit()).map(lambda word: (word, 1))
              .reduceByKey(lambda a, b: a + b).collect())
hosts = set(text.mapPartitions(lambda part: [(socket.gethostname(), sum(1 for _ in part))]).map(lambda pair: pair[0]).collect())
results = pathlib.Path(os.environ.get("RADL_RESULTS", "."))
(results / "counts.json").write_text(json.dumps(counts, indent=1, sort_keys=True) + "\n")
print(json.dumps({"words": sum(counts.values()), "alpha": counts["alpha"], "hosts": len(hosts)}), flush=True)
spark.stop()
