import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from './workspaces.js'

/** The longest time that an example may take, in milliseconds. */
const LONGEST = 110_000

/** The result of a run of an example. */
export interface ExampleRun {
  readonly status: number | null
  readonly lines: readonly string[]
  readonly stderr: string
}

/** Runs the main file of an example on the sources, in a process of its own. */
export function runExample(
  name: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): ExampleRun {
  const main = join(root, 'examples', name, 'src', 'main.ts')
  const options = ['--import', 'tsx', '--conditions', '@leasehold/source', main, ...args]
  const { status, stdout, stderr } = spawnSync(process.execPath, options, {
    encoding: 'utf8',
    // The time limit of a test cannot end a program that blocks its process. It ends itself on SIGTERM.
    timeout: LONGEST,
    env: { ...process.env, ...env },
  })
  return { status, lines: stdout.trim().split('\n'), stderr }
}
