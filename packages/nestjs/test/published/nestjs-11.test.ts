import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { installPacked } from '@leasehold/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const application = mkdtempSync(join(tmpdir(), 'leasehold-nestjs-11-'))
const modules = join(application, 'node_modules')

/** The packages of this repository that the application has. */
const ours = ['core', 'recipes', 'testkit', 'nestjs']
/** The others: NestJS 11 from the workspace of its tests, and those that need not be of a certain version. */
const nest = ['common', 'core', 'schedule', 'terminus', 'testing']
const others = ['croner', 'esbuild', 'eventemitter3', 'jest', 'reflect-metadata', 'rxjs']

beforeAll(() => {
  mkdirSync(join(modules, '@nestjs'), { recursive: true })
  for (const name of ours) installPacked(application, name)
  for (const name of nest) {
    symlinkSync(join(root, 'testing', 'node_modules', '@nestjs', name), join(modules, '@nestjs', name))
  }
  for (const name of others) symlinkSync(join(root, 'node_modules', name), join(modules, name))
  cpSync(join(root, 'testing', 'nestjs-11'), application, { recursive: true })
})

afterAll(() => rmSync(application, { recursive: true, force: true }))

/** Runs a program in the folder of the application. No file of the sources is within its reach. */
async function run(args: readonly string[]) {
  const options = { cwd: application, env: { PATH: process.env.PATH }, timeout: 60_000 }
  const ended = await promisify(execFile)(process.execPath, [...args], options).catch((error) => error)
  return ended as { readonly stdout: string; readonly stderr: string; readonly code?: number }
}

it('a CommonJS application on NestJS 11 runs each tick once on two instances', async () => {
  const { stdout, stderr } = await run(['main.js'])
  expect(stderr.replace(/\(node:\d+\) ExperimentalWarning: .*\n.*\n/, '')).toBe('')
  expect(JSON.parse(stdout)).toEqual({
    nest: '11',
    twice: 0,
    unguarded: 0,
    tokensRepeat: false,
    guarded: true,
    leaders: 1,
    booked: ['7', 'bigint'],
    health: { locks: { status: 'up' } },
  })
})

it('Jest runs its tests', async () => {
  const { stderr, code } = await run([join(modules, 'jest', 'bin', 'jest.js'), '--ci', '--runInBand'])
  expect(stderr).toContain('Tests:       1 passed, 1 total')
  expect(code ?? 0).toBe(0)
})
