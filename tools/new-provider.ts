import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { filesBelow, readManifest, root, shown } from './workspaces.js'

const TEMPLATE = join(root, 'tools', 'provider-template')
const EXTENSION = '.txt'

/** Creates `packages/<name>`: a provider whose laws fail only where its storage is missing. */
function createProvider(name: string): string {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) {
    throw new Error(`'${name}' is not a valid name: use lower case, such as "postgres" or "azure-blob"`)
  }
  const folder = join(root, 'packages', name)
  if (existsSync(folder)) throw new Error(`${shown(folder)} exists already: choose another name`)
  for (const template of filesBelow(TEMPLATE, EXTENSION)) {
    const path = relative(TEMPLATE, template).slice(0, -EXTENSION.length).replace('NAME', name)
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, filled(readFileSync(template, 'utf8'), name))
  }
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  writeFileSync(join(folder, 'reference.conf'), '')
  addReference(name)
  return folder
}

function filled(template: string, name: string): string {
  const pascal = name.replaceAll(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
  const camel = pascal.charAt(0).toLowerCase() + pascal.slice(1)
  const { version } = readManifest(root)
  return template
    .replaceAll('__name__', name)
    .replaceAll('__Name__', pascal)
    .replaceAll('__camel__', camel)
    .replaceAll('__version__', version)
}

/** Has `npm run build` and the checks take the package in. */
function addReference(name: string): void {
  const file = join(root, 'tsconfig.json')
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace(/ \}\n( {2}\])/, ` },\n    { "path": "packages/${name}" }\n$1`))
}

function run(command: string, ...args: string[]): void {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${[command, ...args].join(' ')} failed`)
}

function main(name: string): void {
  const folder = createProvider(name)
  run('npm', 'install', '--no-audit', '--no-fund')
  run('npm', 'run', 'docs:update')
  console.log(`
${shown(folder)} is ready. Next:
  1. implement src/${name}-register.ts and src/${name}-guard.ts
  2. npx vitest run packages/${name}
  3. npm run docs:update, after a change of src/${name}-options.ts
  4. npm run api && npm run build && npm run sizes -- --update && npm run check
docs/stores/writing-a-provider.md explains each step.`)
}

const [name] = process.argv.slice(2)
if (name === undefined) {
  console.error('usage: npm run new-provider NAME, such as "npm run new-provider postgres"')
  process.exitCode = 2
} else {
  try {
    main(name)
  } catch (error) {
    // A stack would hide what to do.
    console.error(`new-provider: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
}
