import assert from 'node:assert/strict'
import type { LeaseRecord, LeaseStore } from '@leasehold/core'
import { type StoreLaw, type StoreTrial, storeLawsOf } from '../store-trial.js'

async function listed(trial: StoreTrial, client: LeaseStore, prefix: string): Promise<LeaseRecord[]> {
  const records: LeaseRecord[] = []
  for await (const record of client.list?.(prefix, trial.call) ?? []) records.push(record)
  return records
}

function namesOf(records: readonly LeaseRecord[]): string[] {
  return records.map(({ name }) => name).sort()
}

/** Names of the trial, some held and some released. */
async function fill(trial: StoreTrial, client: LeaseStore, names: readonly string[]): Promise<void> {
  const entries = names.entries()
  const worker = async (): Promise<void> => {
    for (const [place, name] of entries) {
      const grant = await trial.granted(client, { name, owner: `owner ${place}` })
      if (place % 3 === 0) await client.release(grant, trial.call)
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, worker))
}

/** How many names are filled at a time. */
const WORKERS = 4

/** Few, because laws over real servers run side by side: providers test listings of several pages themselves. */
const MANY = 40

export const storeListingLaws: readonly StoreLaw[] = [
  ...storeLawsOf('listing', ['list'], {
    async 'yields the record of each name with the prefix once, held or not'(trial, client) {
      const names = Array.from({ length: 20 }, (_, place) => `${trial.name}-a-${place}`)
      const all = [...names, `${trial.name}-b`, trial.name]
      await fill(trial, client, all)
      const records = await listed(trial, client, `${trial.name}-a`)
      assert.deepEqual(namesOf(records), [...names].sort())
      for (const record of records) assert.deepEqual(record, await readAgain(trial, client, record))
      assert.deepEqual(namesOf(await listed(trial, client, trial.name)), all.sort())
    },
    async 'yields a name whose lease has expired, as a read does'(trial, client) {
      await trial.granted(client)
      await trial.expire(client)
      const name = `${trial.name}-held`
      await trial.granted(client, { name })
      const records = await listed(trial, client, trial.name)
      assert.deepEqual(namesOf(records), [trial.name, name])
      for (const record of records) assert.deepEqual(record, await readAgain(trial, client, record))
      assert.notEqual(records.find((record) => record.name === trial.name)?.state, 'leased')
    },
    async 'yields nothing where no name has the prefix'(trial, client) {
      await trial.granted(client)
      assert.deepEqual(await listed(trial, client, `${trial.name}-`), [])
    },
    async 'misses no name that exists throughout, while others come and go'(trial, client) {
      const names = Array.from({ length: MANY }, (_, place) => `${trial.name}-${String(place).padStart(3, '0')}`)
      await fill(trial, client, names)
      const seen: string[] = []
      let others = 0
      for await (const { name } of client.list?.(trial.name, trial.call) ?? []) {
        seen.push(name)
        if (seen.length % 4 !== 0) continue
        others += 1
        const grant = await trial.granted(client, { name: `${trial.name}-${others}-new` })
        if (others % 2 === 0) await client.release(grant, trial.call)
      }
      const found = seen.filter((name) => !name.endsWith('new')).sort()
      assert.deepEqual(found, names)
      assert.equal(new Set(seen).size, seen.length, 'a name was listed twice')
    },
    async 'ends when its reader leaves the loop, and leaves no listener'(trial, client) {
      await fill(trial, client, [trial.name, `${trial.name}-2`, `${trial.name}-3`])
      const call = trial.call
      for await (const { name } of client.list?.(trial.name, call) ?? []) {
        assert(name.startsWith(trial.name))
        break
      }
      assert.equal(call.listeners, 0)
    },
  }),
  ...storeLawsOf('listing', ['list', 'any-name'], {
    async 'returns names as they were given'(trial, client) {
      const odd = 'заявка|🔒|a*b|a?b|a[b]c|a\\b|a/b|a b|a%2Fb|A|a|ß|e\u0301|\u00e9'.split('|')
      const names = odd.map((name) => `${trial.name} ${name}`)
      const long = `${trial.name} ${'x'.repeat(900)}`
      await fill(trial, client, [...names, long])
      assert.deepEqual(namesOf(await listed(trial, client, `${trial.name} `)), [...names, long].sort())
      assert.deepEqual(namesOf(await listed(trial, client, `${trial.name} a*`)), [`${trial.name} a*b`])
      assert.deepEqual(namesOf(await listed(trial, client, `${trial.name} xxx`)), [long])
    },
  }),
]

/** The record as a read returns it now, with the remaining time of the listing. */
async function readAgain(
  trial: StoreTrial,
  client: LeaseStore,
  listedRecord: LeaseRecord,
): Promise<LeaseRecord | undefined> {
  const record = await client.read(listedRecord.name, trial.call)
  if (record?.remaining === undefined || listedRecord.remaining === undefined) return record
  return { ...record, remaining: listedRecord.remaining }
}
