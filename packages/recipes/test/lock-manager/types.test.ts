import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { temporaryFolder } from '@leasehold/testing'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

/** A program that is compiled with the types of a browser. */
const program = `
import { createLockManager, type Lock as OurLock } from '@leasehold/recipes'
import { MemoryLeaseStore } from '@leasehold/core'

const ours = createLockManager(new MemoryLeaseStore())
/** Code for a browser takes it in place of navigator.locks. */
export const locks: LockManager = ours
export const lockOf = (lock: OurLock): Lock => lock
export const query: Promise<LockManagerSnapshot> = ours.query()

export async function work(locks: LockManager): Promise<number> {
  await locks.request('a', async (lock: Lock | null) => lock?.name)
  return await locks.request('a', { mode: 'shared', signal: AbortSignal.timeout(5) }, async () => 5)
}
export const done: Promise<number> = work(ours)

// The types of this package say more: a lock is null with ifAvailable only, and has a signal and a token.
export const token: Promise<bigint> = ours.request('a', (lock) => lock.fencingToken)
export const signal: Promise<AbortSignal> = ours.request('a', { steal: true }, async (lock) => lock.signal)
// @ts-expect-error It may be null.
export const wrong: Promise<bigint> = ours.request('a', { ifAvailable: true }, (lock) => lock.fencingToken)
// @ts-expect-error There is no such mode.
export const noMode = ours.request('a', { mode: 'upgrade' }, () => 5)
`

it('a lock manager is assignable to the LockManager of a browser', { timeout: 120_000 }, async (test) => {
  const folder = temporaryFolder(test)
  const source = (name: string) => [join(root, 'packages', name, 'src/index.ts')]
  const compilerOptions = {
    noEmit: true,
    composite: false,
    declaration: false,
    declarationMap: false,
    emitDeclarationOnly: false,
    lib: ['ES2023', 'ES2024.String', 'ES2024.SharedMemory', 'ESNext.Disposable', 'DOM'],
    typeRoots: [join(root, 'node_modules/@types')],
    paths: { '@leasehold/recipes': source('recipes'), '@leasehold/core': source('core') },
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'program.ts'), program)
  const config = { extends: join(root, 'tsconfig.base.json'), compilerOptions, files: ['program.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const compiled = promisify(execFile)(process.execPath, [compiler, '-p', folder], { timeout: 100_000 })
  const output = await compiled.then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  )
  expect(output).toBe('')
})
