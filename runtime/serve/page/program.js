// The program that the page writes: `radlc apply` runs the same text.
export const MODELS = ['logistic', 'mlp', 'lenet', 'resnet20', 'resnet32', 'resnet56', 'resnet18', 'fastcifar', 'fastcifar-s', 'vit-tiny'];

export const FRESH = {
  name: 'cifar10-resnet20', source: 'zoo', model: 'resnet20', epochs: 5, data: 'cifar10', upload: '', place: '',
  code: 'files', script: '', archive: '', git: '', commit: '', main: '', weights: '', sha: '', own: '', maxCost: '',
  requirements: '', args: '', python: 'python3', cloud: 'local', workers: 1, servers: 0, type: '', zone: '', spot: false, budget: '', deadline: '', objective: 'time',
};

const quote = (text) => `'${String(text).replace(/[\\']/g, '\\$&')}'`;

export function dataset(c) {
  if (c.data === 'upload') return c.upload ? `./files/${c.upload}` : '';
  return c.data === 'place' ? c.place : c.data;
}

// Why the form cannot be planned yet; '': it can.
export function missing(c) {
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(c.name) || c.name.length > 40) return 'The name has lower-case letters, digits and hyphens.';
  if (c.own) return '';
  if (c.source === 'script') {
    if (c.code === 'files' && !c.script) return 'Choose a program to upload.';
    if (c.code === 'archive' && !c.archive) return 'Choose an archive to upload.';
    if (c.code === 'git' && !/^https:\/\/[^\s'@]+$/.test(c.git)) return 'Write the https address of the repository.';
    if (c.code === 'git' && !/^[0-9a-f]{40}$/.test(c.commit)) return 'Write the commit: 40 digits and letters of `git rev-parse HEAD`.';
    if (c.code !== 'files' && !c.main) return 'Write which file of the program starts it.';
    if (c.weights && !/^https:\/\/[^\s'?#]+[^/\s'?#]$/.test(c.weights)) return 'Write the https address of the file with the weights.';
    if (c.weights && !/^[0-9a-f]{64}$/.test(c.sha)) return 'Write the SHA-256 of the weights.';
  } else if (c.data === 'upload' && !c.upload) return 'Choose an archive with images, or another place.';
  else if (c.data === 'place' && !/^(s3|gs|az|swift|https):\/\/[^\s']+$/.test(c.place)) return 'Write the place of the images, for example s3://BUCKET/PREFIX.';
  if (c.cloud !== 'local' && !c.type) return 'Choose a machine type.';
  if (!/^[a-z0-9-]*$/i.test(c.zone)) return 'A zone has letters, digits and hyphens.';
  return '';
}

function system(name, c, type) {
  const machine = c.cloud === 'local' ? ['cpu.count >= 1'] : [`instance_type = ${quote(type)}`];
  if (c.cloud !== 'local' && c.zone) machine.push(`availability_zone = ${quote(c.zone)}`);
  if (c.cloud !== 'local' && c.spot && name === 'worker') machine.push("spot = 'yes'");
  return [`system ${name} (`, ...machine.map((m) => '  ' + m), "  net_interface.0.connection = 'lan'", ')'];
}

// The file with the checksum of published weights, which the draft has beside the uploads.
export const SUMS = 'weights.sha256';
export const sums = (c) => `${c.sha}  ${c.weights.split('/').at(-1)}\n`;

// std/training/torch with the uploads, an archive or a commit as its source.
function script(c) {
  const source = {files: './files', archive: `./files/${c.archive}`, git: `git::${c.git}@${c.commit}`}[c.code], out = [];
  if (c.weights) out.push("use 'std/data/shards' as weights (", `  source = ${quote(c.weights.replace(/[^/]*$/, ''))}, checksums = './files/${SUMS}'`, "  systems = system.worker, folder = '~/weights'", ')', '');
  out.push("use 'std/training/torch' as training (", '  nodes = system.worker', `  source = ${quote(source)}, main = ${quote(c.code === 'files' ? c.script : c.main)}`);
  const words = c.args.split(/\s+/).filter(Boolean);
  if (words.length) out.push(`  arguments = [${words.map(quote).join(', ')}]`);
  if (c.requirements) out.push(`  requirements = ${quote('./files/' + c.requirements)}`);
  if (c.python && c.python !== 'python3') out.push(`  python = ${quote(c.python)}`);
  return [...out, "  results = './result'", ')', '', 'output metrics (value = training.metrics)', ''];
}

function training(c) {
  const out = [`use 'std/training/${c.servers > 0 ? 'parameter_server' : 'all_reduce'}' as training (`];
  if (c.servers > 0) out.push('  servers = system.server');
  out.push('  workers = system.worker', `  model = ${quote(c.model)}`);
  out.push(c.data === 'cifar10-subset' ? "  dataset = 'cifar10', source = 'subset'" : `  dataset = ${quote(dataset(c))}`);
  out.push(`  epochs = ${c.epochs}`, "  result = 'result'", ')', '');
  return [...out, 'output model (value = training.model_path)', 'output accuracy (value = training.test_accuracy)', ''];
}

// Without what the user wrote instead.
export function write(given) {
  const c = given.source === 'script' ? {...given, servers: 0} : given;
  const outbound = c.source === 'script' ? 'yes' : 'no';  // to install the requirements
  const out = ['radl 2', '# Written by radlc serve. `radlc apply` runs the same file.', '', `network lan (outbound = '${outbound}')`, ''];
  if (c.servers > 0) out.push(...system('server', c, c.type), '');
  out.push(...system('worker', c, c.type), '');
  if (c.servers > 0) out.push(`deploy server ${c.servers} ${c.cloud}`);
  out.push(`deploy worker ${c.workers} ${c.cloud}`, '');
  return [...out, ...(c.source === 'script' ? script(c) : training(c))].join('\n');
}

// What is planned: the file that the user has edited, or else the one of the form.
export const written = (c) => c.own || write(c);
