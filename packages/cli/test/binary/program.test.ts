import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createLease } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'
import { eventually, silentLogger, temporaryFolder } from '@leasehold/testing'
import { expect, it, onTestFinished } from 'vitest'
import { program, start } from '../support/program.js'

const packages = fileURLToPath(new URL('../../..', import.meta.url))

/** A lease of this process in the folder that commands use. */
async function held(folder: string, name: string) {
  const store = new LocalLeaseStore({ folder: join(folder, 'leasehold', 'leases') })
  onTestFinished(() => store.close())
  const lease = createLease(store, name, { owner: 'this test', logger: silentLogger })
  onTestFinished(() => lease.close())
  await lease.acquire()
  return lease
}

it('is executable', () => {
  expect(readFileSync(program, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
})

it('shows the lease of another process, and ends', async () => {
  const folder = temporaryFolder()
  await held(folder, 'backup')
  const { code, output, errors } = await start(folder, ['status', 'backup']).outcome
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  expect(output).toMatch(/^backup\tleased\tthis test\t/)
})

it('breaks the lease of another process, which loses it', async () => {
  const folder = temporaryFolder()
  const lease = await held(folder, 'backup')
  const lost = new Promise((resolve) => lease.once('lost', resolve))
  const { code } = await start(folder, ['break', 'backup', '--yes', '--period', '0s']).outcome
  expect(code).toBe(0)
  await lease.renew()
  expect(await lost).toMatchObject({ reason: 'broken' })
})

it('watches until it gets SIGINT, as other programs do', async () => {
  const folder = temporaryFolder()
  const watching = start(folder, ['watch', 'backup', '--interval', '50ms'])
  const seen: string[] = []
  watching.stdout?.on('data', (text) => seen.push(String(text)))
  await eventually('the first line', async () => seen.length > 0)
  const lease = await held(folder, 'backup')
  await eventually('the grant', async () => seen.join('').includes('leased'))
  await lease.release()
  await eventually('the release', async () => seen.join('').includes('available'))
  watching.kill('SIGINT')
  const { code, signal, output, errors } = await watching.outcome
  expect({ code, signal, errors }).toEqual({ code: null, signal: 'SIGINT', errors: '' })
  expect(
    output
      .trim()
      .split('\n')
      .map((line) => line.split('\t')[2]),
  ).toEqual(['none', 'leased', 'available'])
})

it('ends when the reader of its output has ended', async () => {
  const folder = temporaryFolder()
  const line = `"$0" "$1" watch backup --interval 50ms; echo "$?" >&2`
  const started = `{ ${line}; } 2>&1 >/dev/full | cat`
  const env = { PATH: process.env.PATH ?? '', XDG_STATE_HOME: folder }
  const full = execFileSync('bash', ['--norc', '-c', started, process.execPath, program], { env, encoding: 'utf8' })
  expect(full).toBe('74\n')
  await held(folder, 'backup')
  const piped = `exec 3>&1; { "$0" "$1" watch backup --interval 50ms; echo "$?" >&3; } | true`
  const closed = execFileSync('bash', ['--norc', '-c', piped, process.execPath, program], { env, encoding: 'utf8' })
  expect(closed).toBe('141\n')
})

it('checks the laws of a store with clients of its own', async () => {
  const { code, output } = await start(temporaryFolder(), ['verify', '--family', 'fencing', '-o', 'json']).outcome
  expect(code).toBe(0)
  expect(JSON.parse(output)).toMatchObject({ store: 'local', broken: 0 })
})

it('releases the leases of laws when a check is interrupted', async () => {
  const folder = temporaryFolder()
  const checking = start(folder, ['verify', '--family', 'infinite', '--ttl', '3s'])
  const store = new LocalLeaseStore({ folder: join(folder, 'leasehold', 'leases') })
  onTestFinished(() => store.close())
  const heldNames = async () => {
    const names: string[] = []
    for await (const { name, state } of store.list('leasehold-verify-')) if (state === 'leased') names.push(name)
    return names
  }
  await eventually('the first leases', async () => (await heldNames()).length > 0)
  checking.kill('SIGINT')
  const { code, errors } = await checking.outcome
  expect([code, errors]).toEqual([130, expect.stringContaining('are released')])
  expect(await heldNames()).toEqual([])
})

it('says how to install the package of a store', async () => {
  const folder = temporaryFolder()
  const modules = join(folder, 'node_modules')
  for (const id of ['cli', 'core', 'config', 'local']) {
    for (const part of ['dist', 'package.json']) {
      cpSync(join(packages, id, part), join(modules, '@leasehold', id, part), { recursive: true })
    }
  }
  // All other packages, but none of Leasehold.
  const installed = join(dirname(packages), 'node_modules')
  for (const name of readdirSync(installed)) {
    if (!name.startsWith('.') && name !== '@leasehold') symlinkSync(join(installed, name), join(modules, name))
  }
  mkdirSync(join(folder, 'state'))
  const copy = join(modules, '@leasehold', 'cli', 'dist', 'main.js')
  const listing = await start(join(folder, 'state'), ['list'], copy).outcome
  expect(listing).toMatchObject({ code: 0, errors: '' })
  const { code, errors } = await start(folder, ['list', '--store', 'redis://localhost'], copy).outcome
  expect(code).toBe(78)
  const message = 'leasehold: the store redis: needs a package that is not installed: npm install'
  // There is no package.json beside node_modules, as in the place of global packages.
  expect(errors).toBe(`${message} --global @leasehold/redis ioredis\n`)
  writeFileSync(join(folder, 'package.json'), '{}')
  const local = await start(folder, ['list', '--store', 'redis://localhost'], copy).outcome
  expect(local.errors).toBe(`${message} @leasehold/redis ioredis\n`)
})
