import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eventually, type Finishing } from '@leasehold/testing'
import { vi } from 'vitest'

// Each test runs several programs.
vi.setConfig({ maxConcurrency: 5 })

/** The program, as it is published. */
export const program: string = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

export interface Ended {
  /** The exit code, or 128 and the number of the signal, as a shell shows it. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly output: string
  readonly errors: string
}

/** One process of `leasehold`. */
export interface Started {
  readonly child: ChildProcess
  readonly pid: number
  readonly output: () => string
  readonly errors: () => string
  readonly ended: Promise<Ended>
}

export interface StartOptions extends Pick<SpawnOptions, 'stdio' | 'uid' | 'gid' | 'detached'> {
  readonly env?: Readonly<Record<string, string>>
  /** Where the local store is, unless the arguments name another store. */
  readonly folder: string
}

/** Starts `leasehold`. */
export function start(args: readonly string[], { env, folder, ...options }: StartOptions): Started {
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
    env: { PATH: process.env.PATH ?? '', HOME: folder, XDG_STATE_HOME: folder, ...env },
  })
  let output = ''
  let errors = ''
  child.stdout?.on('data', (text) => {
    output += text
  })
  child.stderr?.on('data', (text) => {
    errors += text
  })
  return {
    child,
    pid: child.pid ?? 0,
    output: () => output,
    errors: () => errors,
    ended: new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, signal) => resolve({ code, signal, output, errors }))
    }),
  }
}

/** Runs `leasehold` to its end. */
export function leasehold(args: readonly string[], options: StartOptions): Promise<Ended> {
  return start(args, options).ended
}

/** A folder for one test, for all users, removed at its end with all that was started in it. */
export function leaseFolder(test: Finishing): string {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-cli-'))
  test.onTestFinished(async () => {
    for (const pid of processesWith(`HOME=${folder}`)) kill(pid)
    await eventually('the folder is removed', async () => {
      rmSync(folder, { recursive: true, force: true })
      return true
    })
  })
  return folder
}

/** The processes that have the text in their environment, or the word in their command line, where the system shows it. */
export function processesWith(text: string, word = text): readonly number[] {
  if (!existsSync('/proc')) return []
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid))
    .filter((pid) => shownOf(pid, 'environ').includes(text) || shownOf(pid, 'cmdline').includes(word))
}

/** Empty for a process that has ended. */
function shownOf(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** Resolves when the program has written a text that matches. */
export async function written(started: Started, pattern: RegExp): Promise<string> {
  await eventually(`${pattern} in the output`, async () => pattern.test(started.output()))
  return pattern.exec(started.output())?.[0] ?? ''
}
