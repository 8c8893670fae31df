import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'
import { Command, type CommandOptions } from './support/command.js'

async function run(args: readonly string[], options: CommandOptions = {}) {
  const command = new Command(args, { folder: temporaryFolder(), ...options })
  return { code: await command.ended, folder: command.folder, shown: command.shown, errors: command.errors }
}

describe('create-leasehold', () => {
  it('writes the service that the flags ask for, and says what to do next', async () => {
    const { code, folder, shown, errors } = await run(['orders', '--store', 'redis', '--recipe', 'schedule'])
    expect(code).toBe(0)
    expect(errors).toBe('')
    expect(shown).toBe(
      'orders is written: schedule on redis. Next:\n\n  cd orders\n  npm install\n  npm test\n  docker compose up -d\n' +
        '  npm start\n\nThe README says how to start it twice and see a take-over.\n',
    )
    expect(readdirSync(join(folder, 'orders')).sort()).toEqual([
      '.dockerignore',
      '.gitignore',
      'Dockerfile',
      'README.md',
      'compose.yaml',
      'kubernetes.yaml',
      'package.json',
      'src',
      'test',
      'testing',
    ])
    expect(JSON.parse(readFileSync(join(folder, 'orders', 'package.json'), 'utf8'))).toMatchObject({ name: 'orders' })
  })

  it('takes the defaults with --yes, and needs no server then', async () => {
    const { code, folder, shown } = await run(['--yes'])
    expect(code).toBe(0)
    expect(shown).toMatch(/^my-service is written: leader on local\./)
    expect(shown).not.toContain('docker')
    expect(existsSync(join(folder, 'my-service', 'src', 'main.js'))).toBe(true)
  })

  it.each(['.', './', '../orders', 'services/orders'])('writes into the folder %j', async (path) => {
    const parent = temporaryFolder()
    const folder = join(parent, 'orders')
    mkdirSync(folder)
    const { code, shown, errors } = await run([path, '--yes'], { folder: path === 'services/orders' ? parent : folder })
    expect(code, errors).toBe(0)
    expect(shown).toMatch(/^orders is written/)
    expect(shown.includes('  cd ')).toBe(path === 'services/orders')
  })

  it('writes into a folder that has a repository and nothing else', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'orders', '.git'), { recursive: true })
    expect(await run(['orders', '--yes'], { folder })).toMatchObject({ code: 0 })
  })

  it('overwrites nothing: it refuses a folder that is not empty', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'orders'))
    writeFileSync(join(folder, 'orders', 'README.md'), 'mine')
    const { code, errors } = await run(['orders', '--yes'], { folder })
    expect(code).toBe(73)
    expect(errors).toBe(
      `create-leasehold: ${join(folder, 'orders')} is not empty (README.md): choose another folder, or empty this one\n`,
    )
    expect(readdirSync(join(folder, 'orders'))).toEqual(['README.md'])
    expect(readFileSync(join(folder, 'orders', 'README.md'), 'utf8')).toBe('mine')
  })

  it('refuses a path that is a file, or leads through one', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'orders'), 'mine')
    const file = await run(['orders', '--yes'], { folder })
    expect(file).toMatchObject({ code: 73, errors: expect.stringContaining('is a file: choose another folder') })
    const below = await run(['orders/new', '--yes'], { folder })
    expect(below).toMatchObject({ code: 73, errors: expect.stringContaining('choose another folder') })
    expect(readFileSync(join(folder, 'orders'), 'utf8')).toBe('mine')
  })

  it.each([
    [
      'Orders',
      "'Orders' cannot be the name of the service: take small letters, digits and hyphens only, such as 'orders'",
    ],
    ['my_service', "such as 'my-service'"],
    ['2fast', 'begin with a small letter'],
    ['orders-', 'end with a letter or a digit'],
    ['o'.repeat(41), 'it has 41 characters; take 40 at most'],
    ['/', 'give the name of a folder'],
    ['ä', "such as 'my-service'"],
  ])('refuses the name %j', async (name, sentence) => {
    expect(await run([name, '--yes'])).toMatchObject({ code: 64, errors: expect.stringContaining(sentence) })
  })

  it.each([
    [
      ['orders', '--store', 'mysql'],
      "--store must be local, redis, postgres, etcd, consul, kubernetes, azure-blob; not 'mysql'",
    ],
    [
      ['orders', '--recipe', 'lock'],
      "--recipe must be leader, schedule, once, permits, partitions, single-flight, actor; not 'lock'",
    ],
    [['orders', '--typescript'], "unknown option '--typescript': see --help"],
    [['orders', '--store'], 'argument missing: see --help'],
    [['orders', 'bills', '--yes'], "one folder is enough: remove 'bills'"],
    [['orders'], 'there is no terminal to ask on: give --store, --recipe, or --yes for the defaults; see --help'],
    [[], 'there is no terminal to ask on: give FOLDER, --store, --recipe, or --yes'],
  ])('refuses %j with the code of a wrong command line', async (args, sentence) => {
    const { code, errors, folder } = await run(args)
    expect(errors).toContain(sentence)
    expect(code).toBe(64)
    expect(readdirSync(folder)).toEqual([])
  })

  it('notices the flags that npm has kept, because -- was forgotten', async () => {
    const env = { npm_config_store: 'redis' }
    const { code, errors } = await run(['orders'], { env, isTerminal: true })
    expect(code).toBe(64)
    expect(errors).toContain('npm kept --store for itself: write -- before the flags')
  })

  it('explains itself on the standard output', async () => {
    const help = await run(['--help'])
    expect(help).toMatchObject({
      code: 0,
      errors: '',
      shown: expect.stringMatching(/^usage: npm create leasehold \[FOLDER\]/),
    })
    expect(Math.max(...help.shown.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100)
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
    expect(await run(['--version'])).toMatchObject({ code: 0, shown: `${version}\n` })
  })
})
