import { mkdirSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Plugin } from 'esbuild'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = `${root}node_modules/.cache/leasehold-programs`

/** Packages of other projects are loaded as they are. Their names begin with neither `.` nor `/`. */
const othersAreExternal: Plugin = {
  name: 'others-are-external',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^[^./]/ }, ({ path }) => (path.startsWith('@leasehold/') ? undefined : { external: true }))
  },
}

const options: BuildOptions = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  conditions: ['@leasehold/source'],
  plugins: [othersAreExternal],
}

/**
 * Builds a program, from source, and resolves with the path of the bundle. `entry`: below the root of the repository. A
 * loader that compiles each module when it is imported gives every function its name at run time, which takes a quarter of
 * the time of a schedule of the simulator, and starts a process in seconds instead of tenths of a second.
 */
export async function buildProgram(entry: string): Promise<string> {
  const outfile = fileFor(basename(entry, '.ts'))
  await build({ ...options, entryPoints: [`${root}${entry}`], outfile })
  return outfile
}

/** As `buildProgram`, for a program that is given as a text, whose imports are absolute paths or packages. */
export async function buildText(name: string, text: string): Promise<string> {
  const outfile = fileFor(name)
  await build({ ...options, stdin: { contents: text, resolveDir: root, loader: 'ts' }, outfile })
  return outfile
}

function fileFor(name: string): string {
  mkdirSync(folder, { recursive: true })
  return `${folder}/${name}-${process.pid}.mjs`
}
