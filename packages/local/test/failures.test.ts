import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LeaseConfigurationError, LeaseProvider, LeaseUnavailableError } from '@leasehold/core'
import { LocalLeaseStore, localLease } from '@leasehold/local'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bootAxis } from '../src/boot.js'
import { nearestStart } from '../src/boot-id.js'
import { call, claim, granted, openStore, TTL } from './support/open-store.js'
import { Child, canRunAsNobody, NOBODY } from './support/spawn-child.js'
import { temporaryFolder } from './support/temporary-folder.js'

const isRoot = process.getuid?.() === 0

describe('a folder that will not do', () => {
  it.each([undefined, '', 7, null])('%s: is no path', (folder) => {
    expect(() => new LocalLeaseStore({ folder: folder as never })).toThrow(LeaseConfigurationError)
  })

  it('with a mode that is none', () => {
    expect(() => new LocalLeaseStore({ folder: temporaryFolder(), mode: 0.5 })).toThrow('permission bits such as 0o700')
  })

  it('that is a file', () => {
    const file = join(temporaryFolder(), 'file')
    writeFileSync(file, 'mine')
    expect(() => new LocalLeaseStore({ folder: file })).toThrow(LeaseConfigurationError)
    expect(readFileSync(file, 'utf8')).toBe('mine')
  })

  it.each([
    [0x6969, 'NFS'],
    [-11317950, 'CIFS'],
    [0x01021997, '9p'],
    [0x65735546, 'FUSE'],
  ])('on a network file system (type %i): refused, by name: %s', (type, name) => {
    const statfs = () => ({ type, bavail: 1e9, bsize: 4_096 })
    const opening = () => new LocalLeaseStore({ folder: temporaryFolder(), statfs })
    expect(opening).toThrow(LeaseConfigurationError)
    expect(opening).toThrow(name)
  })

  it.skipIf(!canRunAsNobody())('that may only be read: unauthorised, and it says what to do', async (test) => {
    const folder = temporaryFolder()
    chmodSync(folder, 0o555)
    const child = new Child(test, folder, 'try', { uid: NOBODY })
    const told = await child.tells(() => true)
    expect(told).toMatchObject({ error: 'LeaseUnauthorisedError' })
    expect(told.message).toContain(folder)
    expect(readdirSync(folder)).toEqual([])
  })

  it('with a foreign file in the place of the database: refused, and the file is not touched', () => {
    const folder = temporaryFolder()
    const file = join(folder, 'leases-x.mdb')
    writeFileSync(file, 'a letter to my mother, of more than thirty-two bytes')
    const opening = () => new LocalLeaseStore({ folder, clock: new VirtualClock(), bootId: 'x' })
    expect(opening).toThrow(LeaseConfigurationError)
    expect(opening).toThrow('not a lease database, or is damaged')
    expect(readFileSync(file, 'utf8')).toContain('my mother')
  })

  it('with a damaged epoch: refused, and it says what to do', () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'epoch'), 'garbage')
    expect(() => new LocalLeaseStore({ folder })).toThrow(/epoch is damaged.*Delete it/s)
  })

  it('of a newer version of this package: refused', () => {
    const folder = temporaryFolder()
    const header = { leasehold: 'local', schema: 3, generation: 1, draft: 'x', begun: 0, facts: {} }
    writeFileSync(join(folder, 'leases-x.mdb'), `${JSON.stringify(header)}\n`)
    expect(() => new LocalLeaseStore({ folder, clock: new VirtualClock(), bootId: 'x' })).toThrow(
      'is of version 3, and this package knows 2',
    )
  })
})

describe('a full disk', () => {
  it('is told before a database is begun', () => {
    const statfs = () => ({ type: 0xef53, bavail: 1, bsize: 4_096 })
    const folder = join(temporaryFolder(), 'new')
    expect(() => new LocalLeaseStore({ folder, statfs })).toThrow(LeaseUnavailableError)
    expect(readdirSync(folder)).toEqual([])
  })

  it.skipIf(!isRoot)(
    'under an open store: an error, nothing lost, and it works on when there is room',
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
  it('that are no good are refused when they are given', async () => {
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

  it('is the monotonic clock, and the suspends before this process began', () => {
    expect(axisAt(1_000, 995)).toBe(1_000)
    expect(axisAt(1_000, 1_009)).toBe(1_000)
    expect(axisAt(1_000, 61_000)).toBe(61_000)
  })

  it('does not believe the uptime of a container, which is shorter', () => {
    expect(axisAt(1_000_000, 5_000)).toBe(1_000_000)
  })

  it('takes two starts by the wall clock for one where they lie ten minutes apart or less', () => {
    expect(nearestStart(1_000_000, ['leases-1300000.mdb', 'epoch'])).toBe('1300000')
    expect(nearestStart(1_000_000, ['leases-1700001.mdb'])).toBe('1000000')
  })

  it('puts the end of a lease as much later as two processes may differ', async () => {
    const store = openStore({ folder: temporaryFolder() })
    await claim(store, 'A')
    const record = await store.read('job', call)
    expect(record?.remaining).toBeGreaterThan(TTL)
  })
})

describe('localLease', () => {
  it('makes leases by config path, in the folder that the block names', async () => {
    const folder = join(temporaryFolder(), 'leases')
    const config = { jobs: { 'lease-class': '@leasehold/local', folder, mode: '750' } }
    await using provider = new LeaseProvider(config, { '@leasehold/local': localLease })
    const [a, b] = await Promise.all(['a', 'b'].map((owner) => provider.getLease('nightly', 'jobs', owner)))
    expect(await a?.acquire()).toBe(true)
    expect(await b?.acquire()).toBe(false)
    expect(existsSync(folder)).toBe(true)
  })

  it('without a folder says which key to set', async () => {
    await using provider = new LeaseProvider({ jobs: { leaseClass: localLease } })
    await expect(provider.getLease('nightly', 'jobs')).rejects.toThrow('folder')
  })
})
