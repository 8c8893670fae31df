import { spawnSync } from 'node:child_process'
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LeaseConfigurationError, LeaseConflictError, LeaseUnauthorisedError } from '@leasehold/core'
import { fileState } from '@leasehold/sharding/local'
import { temporaryFolder } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'

const old = { snapshot: { text: 'old' }, version: 1, handled: ['m1'] }
const next = { snapshot: { text: 'new'.repeat(100) }, version: 2, handled: ['m2'] }

const isRoot = process.geteuid?.() === 0

function run(program: string, args: readonly string[]): { readonly stdout: string; readonly signal: string | null } {
  const file = fileURLToPath(new URL(program, import.meta.url))
  const options = ['--import', 'tsx', '--conditions', '@leasehold/source', file, ...args]
  return spawnSync(process.execPath, options, { encoding: 'utf8', timeout: 60_000 })
}

describe('a process that is killed within a save', () => {
  it.each([
    ['before the temporary file', old],
    ['in the middle of the write', old],
    ['before the flush', old],
    ['before the rename', old],
    ['after the rename', next],
  ])('%s leaves the entity whole', { timeout: 90_000 }, async (step, expected) => {
    const folder = temporaryFolder()
    await fileState(folder).save('a', old, 1n)
    expect(run('../programs/crash-in-save.ts', [folder, step])).toMatchObject({ stdout: '', signal: 'SIGKILL' })
    const state = fileState(folder)
    // The token of the save is kept before the entity is: an older owner is refused in any case.
    await expect(state.save('a', old, 1n)).rejects.toThrow(LeaseConflictError)
    expect(await state.load('a', 2n)).toEqual(expected)
    await state.save('a', next, 2n)
    expect(await state.load('a', 2n)).toEqual(next)
  })
})

describe('the files', () => {
  it('have the id, the folder of the region, and no rest of a save', async () => {
    const folder = temporaryFolder()
    await fileState(folder).forRegion?.('accounts').save('Customer 7/é', next, 1n)
    const files = readdirSync(join(folder, 'accounts')).filter((name) => !name.startsWith('guard'))
    expect(files).toEqual(['%43ustomer%207%2f%c3%a9.json'])
    const [id, text] = readFileSync(join(folder, 'accounts', files[0] ?? ''), 'utf8').split('\n')
    expect(JSON.parse(id ?? '')).toBe('Customer 7/é')
    expect(JSON.parse(text ?? '')).toEqual(next)
  })

  it('are replaced as a whole: one that is open stays as it was', async () => {
    const folder = temporaryFolder()
    const state = fileState(folder)
    await state.save('a', old, 1n)
    const path = join(folder, '%', 'a.json')
    const before = readFileSync(path, 'utf8')
    const file = openSync(path, 'r')
    await state.save('a', next, 1n)
    expect(readFileSync(file, 'utf8')).toBe(before)
    closeSync(file)
    expect(await state.load('a', 1n)).toEqual(next)
  })

  it('have names that differ where the file system does not tell small letters from capital ones', async () => {
    const folder = temporaryFolder()
    const state = fileState(folder)
    for (const id of ['abc', 'ABC', 'aBc', 'é'.repeat(400), 'É'.repeat(400)]) await state.save(id, old, 1n)
    const files = readdirSync(join(folder, '%')).filter((name) => name.endsWith('.json'))
    expect(new Set(files.map((name) => name.toLowerCase())).size).toBe(5)
    expect(Math.max(...files.map((name) => name.length))).toBeLessThan(250)
  })

  it('are for this user only, or for those of the mode', async () => {
    const [own, shared] = [temporaryFolder(), temporaryFolder()]
    await fileState(join(own, 'state')).save('a', old, 1n)
    expect(statSync(join(own, 'state', '%', 'a.json')).mode & 0o777).toBe(0o600)
    await fileState(join(shared, 'state'), { mode: 0o770 }).save('a', old, 1n)
    expect(statSync(join(shared, 'state', '%', 'a.json')).mode & 0o777).toBe(0o660)
  })
})

describe('an error of fileState says what to do', () => {
  it('for a folder that is none', () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'file'), '')
    expect(() => fileState(join(folder, 'file'))).toThrow(/choose another folder/)
    for (const wrong of ['', 7, undefined]) {
      expect(() => fileState(wrong as string)).toThrow(/folder must be the path of a folder/)
    }
    expect(() => fileState(folder, { maxBites: 5 } as object)).toThrow(/fileState has no option 'maxBites'.*maxBytes/)
    expect(() => fileState(folder, { maxBytes: 0 })).toThrow(/maxBytes must be a positive, whole number of bytes/)
    expect(() => fileState(folder, { timeout: -1 })).toThrow(/timeout must be a positive number/)
  })

  it('for a file of another program', async () => {
    const folder = temporaryFolder()
    const state = fileState(folder)
    writeFileSync(join(folder, '%', 'a.json'), '{}')
    writeFileSync(join(folder, '%', 'b.json'), '"b"\n{"snapshot":')
    writeFileSync(join(folder, '%', 'c.json'), '"c"\n{"version":1,"handled":[]}')
    for (const id of ['a', 'b', 'c']) {
      await expect(state.load(id, 1n)).rejects.toThrow(LeaseConfigurationError)
      await expect(state.load(id, 1n)).rejects.toThrow(/Move the file away|Repair or delete it/)
    }
  })

  it('for a name that is taken by a folder', async () => {
    const folder = temporaryFolder()
    const state = fileState(folder)
    mkdirSync(join(folder, '%', 'a.json'))
    await expect(state.load('a', 1n)).rejects.toThrow(/the load of entity 'a' failed: EISDIR.*check the folder/)
  })

  it.skipIf(isRoot)('for a file that this user may not write', async () => {
    const folder = temporaryFolder()
    const state = fileState(folder)
    await state.save('a', old, 1n)
    chmodSync(join(folder, '%'), 0o500)
    await expect(state.save('a', next, 1n)).rejects.toThrow(LeaseUnauthorisedError)
    chmodSync(join(folder, '%'), 0o700)
  })

  it('after close', async () => {
    const state = fileState(temporaryFolder())
    await state.close?.()
    await expect(state.save('a', old, 1n)).rejects.toThrow(/closed/)
  })
})
