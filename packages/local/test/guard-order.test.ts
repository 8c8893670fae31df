import { closeSync, openSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { LeaseLostError } from '@leasehold/core'
import { LocalGuard } from '@leasehold/local'
import { temporaryFolder } from '@leasehold/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { LogFile } from '../src/log-file.js'

/** The module that guards load. */
const system: Pick<typeof import('fs-native-extensions'), 'waitForLockSync' | 'tryLock' | 'unlock'> = createRequire(
  import.meta.url,
)('fs-native-extensions')

function openGuard(folder: string): LocalGuard {
  const guard = new LocalGuard({ folder })
  onTestFinished(() => guard.close())
  return guard
}

/** Runs `work` while the next caller waits for the lock, and has it just before the caller. */
function duringTheNextWait(work: () => void): void {
  const wait = system.waitForLockSync
  const spy = vi.spyOn(system, 'waitForLockSync').mockImplementationOnce((file) => {
    work()
    wait(file)
  })
  onTestFinished(() => spy.mockRestore())
}

describe('LocalGuard, while it waits for the lock', () => {
  it('decides on the tokens that are recorded meanwhile', () => {
    const folder = temporaryFolder()
    const [guard, other] = [openGuard(folder), openGuard(folder)]
    const done: string[] = []
    guard.transact('ledger', 5n, () => done.push('five'))
    duringTheNextWait(() => other.transact('ledger', 7n, () => done.push('seven')))
    expect(() => guard.transact('ledger', 5n, () => done.push('five, too late'))).toThrow(LeaseLostError)
    expect(done).toEqual(['five', 'seven'])
  })

  it('locks the file that replaced the one it waited for', () => {
    const folder = temporaryFolder()
    const guard = openGuard(folder)
    const path = join(folder, 'guard.mdb-gate')
    duringTheNextWait(() => {
      rmSync(path)
      // As another process, which runs its action in the new file meanwhile.
      openGuard(folder).transact('another', 1n, () => {})
    })
    guard.transact('ledger', 5n, () => {
      const gate = openSync(path, 'a+')
      const isFree = system.tryLock(gate)
      closeSync(gate)
      expect(isFree).toBe(false)
    })
  })
})

describe('LocalGuard', () => {
  it('has the token on the disk before the action runs, so that a power failure does not undo it', () => {
    const flushes = vi.spyOn(LogFile.prototype, 'flush')
    onTestFinished(() => flushes.mockRestore())
    const guard = openGuard(temporaryFolder())
    for (const token of [5n, 6n]) {
      flushes.mockClear()
      guard.transact('ledger', token, () => expect(flushes).toHaveBeenCalled())
    }
    flushes.mockClear()
    // The token is on the disk already.
    guard.transact('ledger', 6n, () => expect(flushes).not.toHaveBeenCalled())
  })
})
