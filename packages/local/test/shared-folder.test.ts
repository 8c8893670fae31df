import { chmodSync, chownSync, linkSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { openLog, put, type TextLog } from './support/open-log.js'
import { call, claim, granted, openStore } from './support/open-store.js'
import { NOBODY } from './support/spawn-child.js'

const growth = 2_000

function grow(log: TextLog): void {
  for (let n = 0; n < 100; n += 1) {
    log.refresh()
    expect(put(log, 'a', 'x')).toBe(true)
  }
}

describe.skipIf(process.platform === 'win32')('a process that gives no mode', () => {
  it.each([
    ['777', '666'],
    ['770', '660'],
    ['755', '600'],
    ['700', '600'],
    ['1777', '600'],
  ])('in a folder with the permissions %s creates files with %s', async (folderMode, fileMode) => {
    const folder = temporaryFolder()
    chmodSync(folder, folderMode)
    const store = openStore({ folder, clock: new VirtualClock() })
    await granted(claim(store, 'A'))
    const files = readdirSync(folder).filter((file) => statSync(join(folder, file)).isFile())
    expect(files).toHaveLength(2)
    for (const file of files) expect(statSync(join(folder, file)).mode & 0o777).toBe(Number.parseInt(fileMode, 8))
  })

  it('lets the users of the folder notify each other', async () => {
    const folder = temporaryFolder()
    chmodSync(folder, 0o777)
    const store = openStore({ folder, clock: new VirtualClock() })
    const grant = await granted(claim(store, 'A'))
    await claim(store, 'B', { queue: true })
    await store.release(grant, call)
    const wake = join(folder, 'wake')
    expect(statSync(wake).mode & 0o777).toBe(0o777)
    for (const file of readdirSync(wake)) expect(statSync(join(wake, file)).mode & 0o777).toBe(0o666)
    expect(readdirSync(wake)).toHaveLength(1)
  })

  it('does not take the log away from the other users when it rewrites the log', () => {
    const path = temporaryFolder()
    chmodSync(path, 0o777)
    const { log, file } = openLog(path, { growth })
    const { ino } = statSync(file)
    // A name of its own keeps the first file: a later one could have the same number otherwise.
    linkSync(file, join(path, 'first'))
    grow(log)
    expect(statSync(file).ino).not.toBe(ino)
    expect(statSync(file).mode & 0o777).toBe(0o666)
  })
})

describe.skipIf(process.getuid?.() !== 0)('root (skipped unless root runs the tests)', () => {
  it('does not take the log away from its owner when it rewrites the log', () => {
    const { path, log, file } = openLog(temporaryFolder(), { growth })
    chownSync(file, NOBODY, NOBODY)
    const { ino } = statSync(file)
    linkSync(file, join(path, 'first'))
    grow(log)
    expect(statSync(file).ino).not.toBe(ino)
    expect(statSync(file)).toMatchObject({ uid: NOBODY, gid: NOBODY })
  })
})
