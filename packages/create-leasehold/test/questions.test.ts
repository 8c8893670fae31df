import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'
import { Command } from './support/command.js'

const CTRL_C = '\x03'
const CTRL_D = '\x04'

function onTerminal(args: readonly string[] = []): Command {
  return new Command(args, { folder: temporaryFolder(), isTerminal: true })
}

describe('the questions', () => {
  it('come one after the other, with the choices and a default', async () => {
    const command = onTerminal()
    await command.answer('Folder [my-service]: ', 'orders\n')
    await command.answer('Store [1]: ', '2\n')
    await command.answer('Recipe [1]: ', 'schedule\n')
    expect(await command.ended).toBe(0)
    expect(command.shown).toContain('  1  local       a folder of this machine: no server')
    expect(command.shown).toContain('  2  schedule       a job runs at its times, on one process')
    expect(command.shown).toMatch(/orders is written: schedule on redis/)
  })

  it('are answered by the defaults with the return key alone', async () => {
    const command = onTerminal()
    for (const question of ['Folder', 'Store', 'Recipe']) await command.answer(`${question} [`, '\n')
    expect(await command.ended).toBe(0)
    expect(command.shown).toMatch(/my-service is written: leader on local/)
  })

  it('are only those that the flags have not answered', async () => {
    const command = onTerminal(['orders', '--store', 'etcd'])
    await command.answer('Recipe [1]: ', '7\n')
    expect(await command.ended).toBe(0)
    expect(command.shown).not.toContain('Store [')
    expect(command.shown).toMatch(/orders is written: actor on etcd/)
  })

  it('are asked again after an answer that is none', async () => {
    const command = onTerminal()
    await command.answer('Folder [', 'My Service\n')
    await command.answer("such as 'my-service'", 'orders\n')
    await command.answer('Store [1]: ', '8\n')
    await command.answer("'8' is none of them: type a number from 1 to 7, or a name", 'local\n')
    await command.answer('Recipe [1]: ', '\n')
    expect(await command.ended).toBe(0)
  })

  it.each([
    ['Ctrl-C', CTRL_C, 130, 'create-leasehold: nothing was written\n'],
    [
      'Ctrl-D',
      CTRL_D,
      66,
      'create-leasehold: the input has ended, and nothing was written: give --store and --recipe, or --yes\n',
    ],
  ])('end with %s, and nothing is written', async (_, key, code, errors) => {
    const command = onTerminal(['orders'])
    await command.answer('Store [1]: ', key)
    expect(await command.ended).toBe(code)
    expect(command.errors.trimStart()).toBe(errors)
    expect(readdirSync(command.folder)).toEqual([])
  })

  it('end with the input, and nothing is written', async () => {
    const command = onTerminal(['orders'])
    await command.answer('Store [1]: ', '1\n')
    command.input.end()
    expect(await command.ended).toBe(66)
    expect(readdirSync(command.folder)).toEqual([])
  })

  it('do not come if the folder cannot be used', async () => {
    const command = onTerminal(['.'])
    const other = onTerminal([join('x', 'Y')])
    expect(await other.ended).toBe(64)
    expect(other.shown).toBe('')
    command.input.end()
    await command.ended
  })
})
