import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LeaseConfigurationError, LeaseProvider, LeaseUnavailableError } from '@leasehold/core'
import { LocalLeaseStore, localLease } from '@leasehold/local'
import { temporaryFolder } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bootAxis, nearestStart } from '../src/boot.js'
import { call, claim, granted, openStore, TTL } from './support/open-store.js'
import { Child, canRunAsNobody, NOBODY } from './support/spawn-child.js'

const isRoot = process.getuid?.() === 0

describe('a folder that cannot be used', () => {
  it.each([undefined, '', 7, null])('%s: not a path', (folder) => {
    expect(() => new LocalLeaseStore({ folder: folder as never })).toThrow(LeaseConfigurationError)
  })

  it('with an invalid mode', () => {
    expect(() => new LocalLeaseStore({ folder: temporaryFolder(), mode: 0.5 })).toThrow('permission bits such as 0o700')
  })

  it('that is a file', () => {
    const file = join(temporaryFolder(), 'file')
    writeFileSync(file, 'mine')
    expect(() => new LocalLeaseStore({ folder: file })).toThrow(LeaseConfigurationError)
    expect(readFileSync(file, 'utf8')).toBe('mine')
  })

  it.skipIf(!existsSync('/proc/self'))('where no folder can be made: an error, and no wait for ever', () => {
    expect(() => new LocalLeaseStore({ folder: '/proc/leases' })).toThrow(LeaseUnavailableError)
  })

  it.each([
    [0x6969, 'NFS'],
    [-11317950, 'CIFS'],
    [0x01021997, '9p'],
    [0x65735546, 'FUSE'],
  ])('on a network file system (type %i): rejected, and the error names it: %s', (type, name) => {
    const statfs = () => ({ type, bavail: 1e9, bsize: 4_096 })
    const opening = () => new LocalLeaseStore({ folder: temporaryFolder(), statfs })
    expect(opening).toThrow(LeaseConfigurationError)
    expect(opening).toThrow(name)
  })

  it.skipIf(!canRunAsNobody())(
    'without write permission: unauthorised, and the error says how to fix it',
    async (test) => {
      const folder = temporaryFolder()
      chmodSync(folder, 0o555)
      const child = new Child(test, folder, 'try', { uid: NOBODY })
      const line = await child.waitFor(() => true)
      expect(line).toMatchObject({ error: 'LeaseUnauthorisedError' })
      expect(line.message).toContain(folder)
      expect(readdirSync(folder)).toEqual([])
    },
  )

  it('with a foreign file instead of the database: rejected, and the file is not changed', () => {
    const folder = temporaryFolder()
    const file = join(folder, 'leases-x.mdb')
    writeFileSync(file, 'a letter to my mother, of more than thirty-two bytes')
    const opening = () => new LocalLeaseStore({ folder, clock: new VirtualClock(), bootId: 'x' })
    expect(opening).toThrow(LeaseConfigurationError)
    expect(opening).toThrow('not a lease database, or is damaged')
    expect(readFileSync(file, 'utf8')).toContain('my mother')
  })

  it('with a damaged epoch: rejected, and the error says how to fix it', () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'epoch'), 'garbage')
    expect(() => new LocalLeaseStore({ folder })).toThrow(/epoch is damaged.*Delete it/s)
  })

  it('of a version that is a text: the error has it in one line', () => {
    const folder = temporaryFolder()
    const header = { leasehold: 'local', schema: 'x\n\u001b[2J', generation: 1, begun: 0, facts: {} }
    writeFileSync(join(folder, 'leases-x.mdb'), `${JSON.stringify(header)}\n`)
    expect(() => new LocalLeaseStore({ folder, clock: new VirtualClock(), bootId: 'x' })).toThrow(
      /version x\\u\{a\}\\u\{1b\}/,
    )
  })

  it.each([3, 5])('of another version of this package: rejected (%i)', (schema) => {
    const folder = temporaryFolder()
    const header = { leasehold: 'local', schema, generation: 1, draft: 'x', begun: 0, facts: {} }
    writeFileSync(join(folder, 'leases-x.mdb'), `${JSON.stringify(header)}\n`)
    expect(() => new LocalLeaseStore({ folder, clock: new VirtualClock(), bootId: 'x' })).toThrow(
      `has version ${schema}, and this package needs 4`,
    )
  })
})

describe('a full disk', () => {
  it('is an error before a database is created', () => {
    const statfs = () => ({ type: 0xef53, bavail: 1, bsize: 4_096 })
    const folder = join(temporaryFolder(), 'new')
    expect(() => new LocalLeaseStore({ folder, statfs })).toThrow(LeaseUnavailableError)
    expect(readdirSync(folder)).toEqual([])
  })

  it.skipIf(!isRoot)(
    'under an open store: an error, nothing is lost, and the store works again when there is space',
    async (context) => {
      const folder = temporaryFolder()
      const disk = join(folder, 'disk')
      mkdirSync(disk)
      const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]).status === 0
      if (!mounted) context.skip('tmpfs cannot be mounted here')
      onTestFinished(() => void spawnSync('umount', ['-l', disk]))
      const store = openStore({ folder: join(disk, 'leases') })
      const grant = await granted(claim(store, 'A'))
      let filler = 0
      try {
        for (;;) writeFileSync(join(disk, `filler-${filler++}`), Buffer.alloc(16 * 1024))
      } catch (error) {
        expect(error).toMatchObject({ code: 'ENOSPC' })
      }
      const metadata = { text: 'x'.repeat(4_000) }
      let failure: unknown
      for (let n = 0; n < 200 && failure === undefined; n += 1) {
        failure = await claim(store, `g${n}`, { name: `name ${n}`, metadata }).catch((error: unknown) => error)
        if (!(failure instanceof Error)) failure = undefined
      }
      expect(failure).toBeInstanceOf(LeaseUnavailableError)
      expect(await store.read('job', call)).toMatchObject({ state: 'leased', grantId: 'A' })
      spawnSync('mount', ['-o', 'remount,size=16m', disk])
      expect(await store.renew(grant, call)).toEqual({ renewed: true })
      expect((await claim(store, 'B', { name: 'another', metadata })).granted).toBe(true)
    },
  )
})

describe('arguments', () => {
  it('that are invalid are rejected before the store does anything', async () => {
    const store = openStore({ folder: temporaryFolder() })
    await expect(claim(store, 'A', { name: '' })).rejects.toMatchObject({ code: 'name' })
    await expect(claim(store, 'A', { owner: '\ud800' })).rejects.toMatchObject({ code: 'name' })
    await expect(claim(store, 'A', { ttl: Number.NaN })).rejects.toMatchObject({ code: 'configuration' })
    await expect(claim(store, '')).rejects.toMatchObject({ code: 'configuration' })
    await expect(claim(store, 'A', { metadata: { a: 1 as never } })).rejects.toMatchObject({ code: 'configuration' })
    await expect(store.break('job', {}, call)).rejects.toMatchObject({ code: 'conflict' })
    await expect(store.break('job', { period: -1 }, call)).rejects.toMatchObject({ code: 'configuration' })
  })
})

describe('the axis of time that processes share', () => {
  const clock = new VirtualClock()
  const axisAt = (monotonic: number, uptime: number): number =>
    bootAxis(clock, { monotonic: () => monotonic, uptime: () => uptime })()

  it('is the monotonic clock plus the suspends before the process started', () => {
    expect(axisAt(1_000, 995)).toBe(1_000)
    expect(axisAt(1_000, 1_009)).toBe(1_000)
    expect(axisAt(1_000, 61_000)).toBe(61_000)
  })

  it('ignores the uptime of a container, which is shorter', () => {
    expect(axisAt(1_000_000, 5_000)).toBe(1_000_000)
  })

  it('counts two starts by the wall clock as one if they differ by ten minutes or less', () => {
    expect(nearestStart(1_000_000, ['leases-1300000.mdb', 'epoch'])).toBe('1300000')
    expect(nearestStart(1_000_000, ['leases-1700001.mdb'])).toBe('1000000')
  })

  it('ends a lease later by the difference that two processes may have', async () => {
    const store = openStore({ folder: temporaryFolder() })
    await claim(store, 'A')
    const record = await store.read('job', call)
    expect(record?.remaining).toBeGreaterThan(TTL)
  })
})

describe('localLease', () => {
  it('creates leases by config path, in the folder of the block', async () => {
    const folder = join(temporaryFolder(), 'leases')
    const config = { jobs: { 'lease-class': '@leasehold/local', folder, mode: '750' } }
    await using provider = new LeaseProvider(config, { '@leasehold/local': localLease })
    const [a, b] = await Promise.all(['a', 'b'].map((owner) => provider.getLease('nightly', 'jobs', owner)))
    expect(await a?.acquire()).toBe(true)
    expect(await b?.acquire()).toBe(false)
    expect(existsSync(folder)).toBe(true)
  })

  it('without a folder: the error names the key', async () => {
    await using provider = new LeaseProvider({ jobs: { leaseClass: localLease } })
    await expect(provider.getLease('nightly', 'jobs')).rejects.toThrow('folder')
  })
})
