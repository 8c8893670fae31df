import { execFile } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { temporaryFolder } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'
import { fromSource } from './support/thread-options.js'

const program = fileURLToPath(new URL('programs/holder.ts', import.meta.url))

describe.concurrent('a lease of a heartbeat thread', () => {
  it.for([
    ['main', 'the main thread'],
    ['worker', 'a worker thread'],
    ['cluster', 'a child of a cluster'],
  ] as const)('(%s) is held in %s while that is blocked, and does not keep the process alive', async ([place]) => {
    const args = [...(fromSource.execArgv ?? []), program, place]
    // It resolves when the process has ended by itself.
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 100_000 })
    expect(JSON.parse(stdout)).toEqual({ isGranted: true, isHeld: true, token: '1' })
  })
})

it('the program of the guide holds its lease while it blocks the event loop', async () => {
  const folder = temporaryFolder()
  // The thread looks for the provider from the working directory.
  symlinkSync(fileURLToPath(new URL('../../../node_modules', import.meta.url)), join(folder, 'node_modules'))
  const args = [...(fromSource.execArgv ?? []), fileURLToPath(new URL('readme/blocked.ts', import.meta.url))]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, timeout: 60_000 })
  expect(stdout).toMatch(/ still holds the lease: true\n$/)
}, 70_000)

describe.concurrent('a self-fenced lease of a heartbeat thread', () => {
  it('is kept while the process is blocked, and its loss ends a process that stays blocked', async () => {
    const args = [...(fromSource.execArgv ?? []), fileURLToPath(new URL('programs/fenced.ts', import.meta.url))]
    const ended = await promisify(execFile)(process.execPath, args, { timeout: 100_000 }).catch(
      (error: unknown) => error,
    )
    expect(ended).toMatchObject({ signal: 'SIGKILL', killed: false })
    const { stdout } = ended as { stdout: string }
    expect(stdout.trim().split('\n')).toEqual(['held after a block: true', 'alive after a loss: closed', 'blocked'])
  })
})

/** Runs the program with a heartbeat thread that fails: the signal that ended it, and the last line that it printed. */
async function runDeserted(failure: string, code: string) {
  const program = fileURLToPath(new URL('programs/deserted.ts', import.meta.url))
  const args = [...(fromSource.execArgv ?? []), program, failure, code]
  const ended: unknown = await promisify(execFile)(process.execPath, args, { timeout: 100_000 }).catch((error) => error)
  const { stdout, signal = null } = ended as { stdout: string; signal?: string }
  return [stdout.trim().split('\n').at(-1), signal]
}

describe.concurrent('a process whose heartbeat thread fails while a self-fenced lease is held', () => {
  it.for([
    ['throws', 'blocks', 'working'],
    ['hangs', 'blocks', 'working'],
    // The run has ended, and its work goes on.
    ['throws', 'ignores', 'lost: closed'],
  ])('(%s) is ended if it %s', async ([failure = '', code = '', last]) => {
    expect(await runDeserted(failure, code)).toEqual([last, 'SIGKILL'])
  })

  it('(throws) lives on if it obeys the signal of its run', async () => {
    expect(await runDeserted('throws', 'obeys')).toEqual(['alive', null])
  })
})
