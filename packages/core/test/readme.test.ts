import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { runToEnd } from '@leasehold/testing'
import { expect, it } from 'vitest'
import { copyIdleLeases } from './readme/copy-leases.js'
import { migrateOnce } from './readme/migration.js'
import { openStore } from './readme/move.js'

it('the first program of the guide gives two workers their turns, and ends', async () => {
  const { code, lines, errors } = await runToEnd(new URL('./readme/first-lease.mjs', import.meta.url))
  expect([code, errors]).toEqual([0, ''])
  expect(lines).toEqual(["anna's turn, token 1", 'anna is done', "ben's turn, token 2", 'ben is done'])
})

it('the example of the README migrates once, and a second instance gets a message', async () => {
  const store = new MemoryLeaseStore()
  expect(await migrateOnce(store, async () => {})).toBe('migrated')
  await createLease(store, 'migration').acquire()
  expect(await migrateOnce(store, () => expect.unreachable())).toBe('another instance is migrating')
})

it('the example of the guide moves leases in three deployments', async () => {
  const [redis, postgres] = [new MemoryLeaseStore(), new MemoryLeaseStore()]
  const leaseIn = (deployment: number, name = 'orders') => {
    const store = openStore(
      deployment,
      () => redis,
      () => postgres,
    )
    return createLease(store, name)
  }
  const idle = leaseIn(1, 'nightly')
  await idle.acquire()
  await idle.release({ metadata: { done: 'yes' } })
  const [first, second] = [leaseIn(1), leaseIn(2)]
  expect([await first.acquire(), await second.acquire()]).toEqual([true, false])
  await first.release()
  expect([await second.acquire(), await leaseIn(3).acquire()]).toEqual([true, false])
  expect(await copyIdleLeases(redis, postgres)).toBe('1 copied, 1 held by running processes')
  await second.release()
  const last = leaseIn(3, 'nightly')
  expect(await last.acquire()).toBe(true)
  expect(last.previous).toMatchObject({ done: 'yes' })
})
