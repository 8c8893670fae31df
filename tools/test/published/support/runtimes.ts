import { execFile } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A program that runs JavaScript, with the arguments that come before the file. */
export interface Runtime {
  readonly name: string
  readonly program: string
  readonly args: readonly string[]
}

/** The Node that runs the tests, and those that `TEST_NODES` names: paths of programs, or versions that npm brings, such as `22 24`. */
export async function nodes(folder: string): Promise<readonly (Runtime | string)[]> {
  const asked = (process.env.TEST_NODES ?? '').split(' ').filter(Boolean)
  const others = asked.map(async (node) => {
    const name = `Node ${node}`
    if (existsSync(node)) return { name, program: node, args: [] }
    return await brought(name, `node@${node}`, [join('node_modules', 'node', 'bin', 'node')], [], folder)
  })
  return [
    { name: `Node ${process.versions.node}`, program: process.execPath, args: [] },
    ...(await Promise.all(others)),
  ]
}

/** Deno and Bun, whose programs npm brings. */
export async function deno(folder: string): Promise<Runtime | string> {
  const files = ['linux-x64-glibc', 'linux-arm64-glibc', 'darwin-arm64', 'darwin-x64'].map((platform) =>
    join('node_modules', '@deno', platform, 'deno'),
  )
  return await brought('Deno', 'deno@2', files, ['run', '--allow-all', '--quiet', '--node-modules-dir=manual'], folder)
}

export async function bun(folder: string): Promise<Runtime | string> {
  const files = ['linux-x64', 'linux-aarch64', 'darwin-aarch64', 'darwin-x64'].map((platform) =>
    join('node_modules', '@oven', `bun-${platform}`, 'bin', 'bun'),
  )
  return await brought('Bun', 'bun@1', files, [], folder)
}

/** Installs the package of a runtime. Returns why it could not be had, otherwise. No script of the package runs. */
async function brought(
  name: string,
  spec: string,
  files: readonly string[],
  args: readonly string[],
  parent: string,
): Promise<Runtime | string> {
  const folder = join(parent, spec.replace(/\W/g, '-'))
  mkdirSync(folder, { recursive: true })
  const options = ['--no-audit', '--no-fund', '--no-save', '--silent', '--prefer-offline']
  // The package node installs its program by a script.
  const scripts = spec.startsWith('node@') ? [] : ['--ignore-scripts']
  try {
    await run('npm', ['install', ...options, ...scripts, '--prefix', folder, spec], { timeout: 100_000 })
  } catch (error) {
    return `${name} is not tried, because npm could not install ${spec}: ${String(error).split('\n')[0]}`
  }
  const program = files.map((file) => join(folder, file)).find((file) => existsSync(file))
  return program === undefined
    ? `${name} is not tried, because ${spec} has no program for this machine`
    : { name, program, args }
}
