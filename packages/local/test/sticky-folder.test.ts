import { chmodSync, chownSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LeaseConfigurationError } from '@leasehold/core'
import { temporaryFolder } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openLog, put, read } from './support/open-log.js'
import { claim, granted, openStore, TTL } from './support/open-store.js'
import { Child, canRunAsNobody, NOBODY } from './support/spawn-child.js'

const ANOTHER = NOBODY - 1

/** A folder with the permissions of `/run/lock`. */
function stickyFolder(): string {
  const folder = temporaryFolder()
  chmodSync(folder, 0o1777)
  return folder
}

/** The only database of the folder, which any user may write. */
function openToAll(folder: string): string {
  const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  const file = join(folder, `leases-${bootId}.mdb`)
  chmodSync(file, 0o666)
  chmodSync(join(folder, 'epoch'), 0o666)
  return file
}

describe.skipIf(!canRunAsNobody())('a folder with the sticky bit (skipped unless root runs the tests)', () => {
  it('has leases of one user', async (test) => {
    const folder = stickyFolder()
    for (const name of ['first', 'second']) {
      const child = new Child(test, folder, 'try', { uid: NOBODY, name })
      expect(await child.waitFor(() => true)).toMatchObject({ granted: true })
    }
  })

  it.each([
    ['another user', ANOTHER],
    ['root', 0],
  ])('rejects %s at opening, and the error says how to share leases', async (_, uid) => {
    const folder = stickyFolder()
    const owner = new Child({ onTestFinished }, folder, 'try', { uid: NOBODY })
    expect(await owner.waitFor(() => true)).toMatchObject({ granted: true })
    const database = openToAll(folder)
    const content = readFileSync(database, 'utf8')
    const other = new Child({ onTestFinished }, folder, 'try', { uid })
    const { error, message } = await other.waitFor(() => true)
    expect(error).toBe('LeaseConfigurationError')
    for (const part of ['sticky bit', `user ${NOBODY}, not to user ${uid}`, join(folder, 'leases'), '0o770'])
      expect(message).toContain(part)
    expect(readFileSync(database, 'utf8')).toBe(content)
  })

  it('rejects a user where the database of another user is left from an earlier start of the machine', () => {
    const folder = stickyFolder()
    const database = join(folder, 'leases-earlier.mdb')
    writeFileSync(database, '')
    chownSync(database, NOBODY, NOBODY)
    const opening = () => openStore({ folder, clock: new VirtualClock(), bootId: 'x' })
    expect(opening).toThrow(LeaseConfigurationError)
    expect(opening).toThrow('sticky bit')
    expect(statSync(database).uid).toBe(NOBODY)
  })

  it('rejects a user who opens the log of another user', () => {
    const { path, log, file } = openLog(stickyFolder())
    put(log, 'a', 'kept')
    chownSync(file, NOBODY, NOBODY)
    expect(() => openLog(path)).toThrow('sticky bit')
  })

  it('that got it later has a log that is not ended, so that its other users can go on', () => {
    const { path, log, file } = openLog(temporaryFolder(), { growth: 2_000 })
    chmodSync(path, 0o1777)
    chownSync(file, NOBODY, NOBODY)
    const { ino } = statSync(file)
    for (let n = 0; n < 100; n += 1) {
      log.refresh()
      expect(put(log, 'a', 'x')).toBe(true)
    }
    expect(statSync(file).ino).toBe(ino)
    expect(readFileSync(file, 'utf8')).not.toContain('seal')
    expect(read(log, 'a')).toHaveLength(100)
  })

  it('is shared by several users through a folder in it without that bit', async (test) => {
    const folder = join(stickyFolder(), 'leases')
    const store = openStore({ folder, mode: 0o777 }, test)
    await granted(claim(store, 'A', { name: 'held', ttl: 6 * TTL }))
    for (const uid of [NOBODY, ANOTHER]) {
      const child = new Child(test, folder, 'try', { uid, name: 'held' })
      expect(await child.waitFor(() => true)).toMatchObject({ granted: false })
    }
  })
})
