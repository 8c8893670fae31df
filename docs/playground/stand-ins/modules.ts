// Parts of `node:fs`, `node:module`, `node:path` and `node:url`, with which core finds packages and reads files.

function refuse(): never {
  throw new Error('this page loads no packages and reads no files')
}

export {
  refuse as createRequire,
  refuse as dirname,
  refuse as fileURLToPath,
  refuse as isAbsolute,
  refuse as join,
  refuse as pathToFileURL,
  refuse as readdirSync,
  refuse as readFileSync,
  refuse as resolve,
}
