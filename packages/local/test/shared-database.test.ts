import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LeaseError, LeaseUnavailableError } from '@leasehold/core'
import { LocalGuard } from '@leasehold/local'
import { expect, it, onTestFinished } from 'vitest'
import { FileLock } from '../src/file-lock.js'
import { LeaseFolder } from '../src/lease-folder.js'
import { SharedDatabase } from '../src/shared-database.js'
import { temporaryFolder } from './support/temporary-folder.js'

const key = Buffer.from('key')

function openDatabase(path = temporaryFolder()): { path: string; database: SharedDatabase } {
  const database = new SharedDatabase({ folder: new LeaseFolder({ folder: path }), file: 'test.mdb', durable: false })
  onTestFinished(() => database.close())
  return { path, database }
}

it('two of one process see what the other has written', () => {
  const { path, database } = openDatabase()
  const other = openDatabase(path).database
  database.write(() => database.put(key, 'one'))
  expect(other.write(() => other.get(key))).toBe('one')
  database.close()
  other.write(() => other.put(key, 'two'))
  expect(other.write(() => other.get(key))).toBe('two')
})

it('what throws has written nothing, and the next one may write', () => {
  const { path, database } = openDatabase()
  const failing = (): never => {
    database.put(key, 'half')
    throw new RangeError('a fault')
  }
  expect(() => database.write(failing)).toThrow('a fault')
  expect(openDatabase(path).database.write(() => database.get(key))).toBeUndefined()
})

it('a file that was deleted is begun anew, with its gate', () => {
  const { path, database } = openDatabase()
  database.write(() => database.put(key, 'before'))
  for (const file of ['test.mdb', 'test.mdb-lock', 'test.mdb-gate']) rmSync(join(path, file))
  expect(database.write(() => database.get(key))).toBeUndefined()
  database.write(() => database.put(key, 'after'))
  const other = openDatabase(path).database
  expect(other.write(() => other.get(key))).toBe('after')
})

it('a folder that was deleted is made anew', () => {
  const { path, database } = openDatabase(join(temporaryFolder(), 'leases'))
  rmSync(path, { recursive: true })
  database.write(() => database.put(key, 'after'))
  expect(openDatabase(path).database.write(() => database.get(key))).toBe('after')
})

it('what cannot be opened anew fails as unavailable, and is opened when it can be', () => {
  const { path, database } = openDatabase(join(temporaryFolder(), 'leases'))
  rmSync(path, { recursive: true })
  writeFileSync(path, 'a file in its place')
  for (const _ of [1, 2]) expect(() => database.write(() => {})).toThrow(LeaseError)
  rmSync(path)
  database.write(() => database.put(key, 'after'))
  expect(database.write(() => database.get(key))).toBe('after')
})

it('closed within a transaction: at its end', () => {
  const { path, database } = openDatabase()
  database.write(() => {
    database.put(key, 'kept')
    database.close()
    database.put(key, 'kept to the end')
  })
  expect(() => database.write(() => {})).toThrow('is closed')
  const other = openDatabase(path).database
  expect(other.write(() => other.get(key))).toBe('kept to the end')
})

it('is closed with the process, when nobody has done so', () => {
  const before = new Set(process.listeners('exit'))
  const { path, database } = openDatabase()
  const second = openDatabase(path).database
  const added = process.listeners('exit').filter((listener) => !before.has(listener))
  expect(added).toHaveLength(1)
  added[0]?.(0)
  expect(() => database.write(() => {})).toThrow(LeaseUnavailableError)
  expect(() => second.get(key)).toThrow('is closed')
  expect(process.listeners('exit')).toHaveLength(before.size)
})

it('an action of a guard may run another one under the same guard, and keeps the gate until its own end', () => {
  const folder = temporaryFolder()
  const guard = new LocalGuard({ folder })
  const gate = new FileLock(join(folder, 'guard.mdb-gate'))
  onTestFinished(() => gate.close())
  onTestFinished(() => guard.close())
  const seen = guard.run('ledger', 1n, () => ({
    inner: guard.run('log', 1n, () => 'written'),
    free: gate.tryLock(),
  }))
  expect(seen).toEqual({ inner: 'written', free: false })
  expect(gate.tryLock()).toBe(true)
})
