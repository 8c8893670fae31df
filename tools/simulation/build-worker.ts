import { mkdirSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'

const folder = fileURLToPath(new URL('../../node_modules/.cache/leasehold-simulation', import.meta.url))

/** Packages of other projects are loaded as they are. Their names begin with neither `.` nor `/`. */
const othersAreExternal: Plugin = {
  name: 'others-are-external',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^[^./]/ }, ({ path }) => (path.startsWith('@leasehold/') ? undefined : { external: true }))
  },
}

/** Builds the program of the workers; see `buildProgram`. */
export async function buildWorker(): Promise<string> {
  return await buildProgram('tools/simulation/worker.ts')
}

/**
 * Builds a program, from source, and resolves with the path of the bundle. `entry`: below the root of the repository. A loader that compiles each module when it is
 * imported gives every function its name at run time, which takes a quarter of the time of a schedule.
 */
export async function buildProgram(entry: string): Promise<string> {
  mkdirSync(folder, { recursive: true })
  const outfile = `${folder}/${basename(entry, '.ts')}-${process.pid}.mjs`
  await build({
    entryPoints: [fileURLToPath(new URL(`../../${entry}`, import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@leasehold/source'],
    plugins: [othersAreExternal],
  })
  return outfile
}
