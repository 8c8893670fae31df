import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { installPacked, temporaryFolder } from '@leasehold/testing'
import { expect, it } from 'vitest'
import { root } from '../support/project.js'

it('the packed program writes a service whose npm test passes', () => {
  const folder = temporaryFolder()
  installPacked(folder, 'create-leasehold')
  const installed = join(folder, 'node_modules', '@leasehold', 'create-leasehold')
  const { bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  const program = join(installed, bin['create-leasehold'])
  const args = [program, 'orders', '--store', 'local', '--recipe', 'leader']
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', timeout: 30_000 })
  expect(status, stderr).toBe(0)
  const service = join(folder, 'orders')
  expect(readFileSync(join(service, '.gitignore'), 'utf8')).toContain('node_modules/')
  expect(existsSync(join(service, '.dockerignore'))).toBe(true)
  symlinkSync(join(root, 'node_modules'), join(service, 'node_modules'))
  expect(execFileSync('npm', ['test'], { cwd: service, encoding: 'utf8', timeout: 60_000 })).toMatch(/pass 2\b/)
  // A second time, it overwrites nothing.
  expect(spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', timeout: 30_000 }).status).toBe(73)
})
