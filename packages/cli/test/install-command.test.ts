import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '@leasehold/testing'
import { expect, it } from 'vitest'
import { installCommand } from '../src/store-selection.js'

/** A file of the program in the `node_modules` of a folder. */
function installedIn(folder: string): string {
  return join(folder, 'node_modules', '@leasehold', 'cli', 'dist', 'main.js')
}

const packages = ['@leasehold/redis', 'ioredis']

it('adds packages to the project in which the program is installed', () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'package.json'), '{}')
  expect(installCommand(packages, installedIn(folder))).toBe('npm install @leasehold/redis ioredis')
})

it('adds global packages to a program that is installed globally', () => {
  const folder = join(temporaryFolder(), 'lib')
  expect(installCommand(packages, installedIn(folder))).toBe('npm install --global @leasehold/redis ioredis')
})

it('names the packages for npx, if the program was brought by it', () => {
  const folder = join(temporaryFolder(), '_npx', '0123abcd')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{}')
  expect(installCommand(packages, installedIn(folder))).toBe(
    'npx -p @leasehold/cli -p @leasehold/redis -p ioredis leasehold …',
  )
})
