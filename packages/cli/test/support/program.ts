import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The program, as it is published. */
export const program: string = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

export interface Outcome {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly output: string
  readonly errors: string
}

/** Starts a program of Node, in a folder which also has its leases. */
export function start(
  folder: string,
  args: readonly string[],
  file = program,
): ChildProcess & { outcome: Promise<Outcome> } {
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', XDG_STATE_HOME: folder },
  })
  let [output, errors] = ['', '']
  child.stdout.on('data', (text) => {
    output += text
  })
  child.stderr.on('data', (text) => {
    errors += text
  })
  const outcome = new Promise<Outcome>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, output, errors }))
  })
  return Object.assign(child, { outcome })
}
