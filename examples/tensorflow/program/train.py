"""Trains one of the two models with the strategy that TF_CONFIG asks for; knows nothing of radlc but where its folders are."""
import argparse
import json
import os
import pathlib
import pickle
import time

import tensorflow as tf

import models

SIDES = {"resnet44": 32, "inception_resnet_v1": 224}


def made_up(side):
    """Images of ten classes that can be told apart: stripes, a slope for each class."""
    count = 256 if side == 32 else 40
    labels = tf.range(count) % 10
    along = tf.range(side, dtype=tf.float32) / side
    angle = tf.cast(labels, tf.float32) * 0.314
    waves = tf.cos(angle)[:, None, None] * along[None, :, None] + tf.sin(angle)[:, None, None] * along[None, None, :]
    images = tf.sin(20 * waves)[..., None] + 0.1 * tf.random.stateless_normal((count, side, side, 3), (1, 2))
    return images, labels


def cifar10(folder, side):
    images, labels = [], []
    for path in sorted(folder.glob("data_batch_*")):
        batch = pickle.loads(path.read_bytes(), encoding="latin1")
        images.append(batch["data"].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1).astype("float32") / 127.5 - 1)
        labels += batch["labels"]
    images = tf.concat(images, 0)
    return images, tf.constant(labels, tf.int32)


def dataset(side, batch, seed):
    folder = pathlib.Path(os.environ.get("RADL_INPUTS", ".")) / "cifar10"
    images, labels = cifar10(folder, side) if folder.exists() else made_up(side)
    data = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(1024, seed=seed).repeat().batch(batch)
    return data if images.shape[1] == side else data.map(lambda i, l: (tf.image.resize(i, (side, side)), l))


def strategy_of(cluster):
    if cluster.cluster_spec().as_dict().get("ps"):
        return tf.distribute.ParameterServerStrategy(cluster)
    return tf.distribute.MultiWorkerMirroredStrategy(cluster_resolver=cluster)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--model", choices=SIDES, default="resnet44")
    arguments.add_argument("--steps", type=int, default=20)
    arguments.add_argument("--batch", type=int)
    options = arguments.parse_args()
    batch, side = options.batch or (64 if options.model == "resnet44" else 4), SIDES[options.model]
    cluster = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if cluster.task_type in ("ps", "worker") and cluster.cluster_spec().as_dict().get("ps"):
        tf.distribute.Server(cluster.cluster_spec(), job_name=cluster.task_type, task_index=cluster.task_id,
                             protocol="grpc", start=True).join()
    strategy = strategy_of(cluster)
    with strategy.scope():
        model = getattr(models, options.model)()
        optimizer = tf.keras.optimizers.SGD(0.05, momentum=0.9)
        model.build((None, side, side, 3))
        optimizer.build(model.trainable_variables)

    @tf.function
    def step(iterator):
        def replica(images, labels):
            with tf.GradientTape() as tape:
                logits = model(images, training=True)
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss
        return strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(replica, args=next(iterator)), axis=None)

    chief = cluster.task_type == "chief" or (cluster.task_type in (None, "worker") and not cluster.task_id)
    servers = isinstance(strategy, tf.distribute.ParameterServerStrategy)
    begin = time.time()
    if servers:
        coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
        data = iter(coordinator.create_per_worker_dataset(
            lambda: strategy.distribute_datasets_from_function(lambda context: dataset(side, batch, 0))))
        losses = [coordinator.schedule(step, args=(data,)) for _ in range(options.steps)]
        coordinator.join()
        losses = [float(loss.fetch()) for loss in losses]
    else:
        data = iter(strategy.distribute_datasets_from_function(
            lambda context: dataset(side, batch, context.input_pipeline_id)))
        losses = [float(step(data)) for _ in range(options.steps)]
    seconds = time.time() - begin
    if chief:
        print(json.dumps({"loss": losses[-1], "first_loss": losses[0], "steps": len(losses),
                          "parameters": model.count_params(), "images_per_second":
                          len(losses) * batch * (1 if servers else strategy.num_replicas_in_sync) / seconds}), flush=True)
        if servers:
            model.save_weights(pathlib.Path(os.environ.get("RADL_RESULTS", ".")) / "model.weights.h5")
    if not servers:  # every worker takes part in reading variables; the chief's copy is kept
        folder = pathlib.Path(os.environ.get("RADL_RESULTS", "."))
        model.save_weights(folder / ("model.weights.h5" if chief else f"worker-{cluster.task_id}.weights.h5"))


if __name__ == "__main__":
    main()
