import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { leaseFolder, leasehold, start, written } from '../support/leasehold-program.js'

const isRoot = process.getuid?.() === 0
const NOBODY = 65534

/** Whether this machine lets root mount a small disk; containers may not. */
function canMount(): boolean {
  if (!isRoot || process.platform !== 'linux') return false
  try {
    execFileSync('unshare', ['-m', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

describe.skipIf(!isRoot)('two users with one folder of leases (only root can try it)', () => {
  it('exclude each other, where the folder is for both', async (test) => {
    const folder = leaseFolder(test)
    chmodSync(folder, 0o777)
    mkdirSync(join(folder, 'shared'))
    chmodSync(join(folder, 'shared'), 0o777)
    const store = ['-s', `local:${folder}/shared/leases?mode=777`]
    const holder = start(['run', 'x', ...store, '--', 'sh', '-c', 'echo held; sleep 60'], { folder })
    test.onTestFinished(() => void holder.child.kill())
    await written(holder, /held/)
    const nobody = { folder, uid: NOBODY, gid: NOBODY }
    const other = await leasehold(['run', 'x', '--try', ...store, '--', 'echo', 'started'], nobody)
    test.expect(other).toMatchObject({ code: 75, output: '' })
  })

  it('are refused with 77, where the folder is for one of them', async (test) => {
    const folder = leaseFolder(test)
    chmodSync(folder, 0o777)
    const store = ['-s', `local:${folder}/leases`]
    test.expect(await leasehold(['run', 'x', ...store, '--', 'true'], { folder })).toMatchObject({ code: 0 })
    const nobody = { folder, uid: NOBODY, gid: NOBODY }
    const other = await leasehold(['run', 'x', '--try', ...store, '--', 'echo', 'started'], nobody)
    test.expect(other).toMatchObject({ code: 77, output: '' })
  })
})

describe.skipIf(!canMount())('a full disk (only root can try it)', () => {
  it('is a failure of the store: the command is not started', async (test) => {
    const folder = leaseFolder(test)
    const disk = join(folder, 'disk')
    mkdirSync(disk)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'leasehold', disk])
    test.onTestFinished(() => void execFileSync('umount', ['-l', disk]))
    try {
      writeFileSync(join(disk, 'filler'), Buffer.alloc(1_000_000))
    } catch {
      // It is full now.
    }
    const ended = await leasehold(['run', 'x', '--try', '-s', `local:${disk}/leases`, '--', 'echo', 'started'], {
      folder,
    })
    test.expect(ended).toMatchObject({ code: 69, output: '' })
    test.expect(ended.errors).toMatch(/full|space/)
  })
})
