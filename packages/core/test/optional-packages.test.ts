import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'

/** Prints the errors of a service that has core and no other package. */
const SERVICE = `
import { createLease, LeaseProvider, MemoryLeaseStore } from '@leasehold/core'
const settings = [{ 'heartbeat-thread': 'on' }, { 'self-fence': 'kill' }]
const errors = []
const failed = (error) => errors.push(error.name + ': ' + error.message)
for (const setting of settings) {
  const jobs = { 'lease-class': '@leasehold/core#memoryLease', ...setting }
  await new LeaseProvider({ jobs }).getLease('job', 'jobs').catch(failed)
}
await createLease(new MemoryLeaseStore(), 'job', { selfFence: 'kill' }).acquire().catch(failed)
const plain = await createLease(new MemoryLeaseStore(), 'job').acquire()
console.log(JSON.stringify({ errors, plain }))
`

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'leasehold-alone-'))
  const modules = join(folder, 'node_modules')
  const core = join(modules, '@leasehold', 'core')
  mkdirSync(core, { recursive: true })
  for (const part of ['src', 'package.json']) {
    cpSync(fileURLToPath(new URL(`../${part}`, import.meta.url)), join(core, part), { recursive: true })
  }
  for (const name of ['eventemitter3', 'fastest-levenshtein', 'nanoid']) {
    symlinkSync(fileURLToPath(new URL(`../../../node_modules/${name}`, import.meta.url)), join(modules, name))
  }
  writeFileSync(join(folder, 'service.mjs'), SERVICE)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('a setting whose package is not installed is an error that names the package', () => {
  const options = ['--import', import.meta.resolve('tsx'), '--conditions', '@leasehold/source']
  const output = execFileSync(process.execPath, [...options, 'service.mjs'], { cwd: folder, encoding: 'utf8' })
  const install = (name: string): string =>
    `needs the package '@leasehold/${name}', which is not installed: npm install @leasehold/${name}`
  expect(JSON.parse(output)).toEqual({
    errors: [
      `LeaseConfigurationError: heartbeat-thread ${install('heartbeat-thread')} (block 'jobs', lease 'job')`,
      `LeaseConfigurationError: selfFence ${install('self-fence')} (block 'jobs', lease 'job')`,
      `LeaseConfigurationError: selfFence ${install('self-fence')}`,
    ],
    plain: true,
  })
})
