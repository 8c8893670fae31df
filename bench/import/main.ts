/** The processor time that importing each package takes: the least of many runs. Fails where a bound is not kept. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packages } from '../../tools/workspaces.js'
import { table } from '../support/table.js'

const RUNS = 25

/** In milliseconds. */
const BOUNDS: Readonly<Record<string, number>> = { core: 25, redis: 60 }

const PROGRAM = `
const before = process.cpuUsage()
await import(process.argv[1])
const { user, system } = process.cpuUsage(before)
console.log((user + system) / 1000)
`

function importTime(file: string): number {
  const options = ['--input-type=module', '--eval', PROGRAM, pathToFileURL(file).href]
  const times = Array.from({ length: RUNS }, () =>
    Number(execFileSync(process.execPath, options, { encoding: 'utf8' })),
  )
  return Math.min(...times)
}

const rows: string[][] = []
for (const { id, manifest, folder } of packages()) {
  // A program, such as that of cli, is not imported.
  if (manifest.exports?.['.'] === undefined) continue
  const time = importTime(join(folder, 'dist', 'index.js'))
  const bound = BOUNDS[id]
  const isKept = bound === undefined || time <= bound
  const verdict = bound === undefined ? ['', ''] : [`at most ${bound} ms`, isKept ? 'yes' : '**no**']
  rows.push([manifest.name, `${time.toFixed(1)} ms`, ...verdict])
  if (!isKept) process.exitCode = 1
}
console.log(table('package | processor time of the import | bound | kept', rows))
