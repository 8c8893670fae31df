import { describe, expect, it } from 'vitest'
import { TestTerminal } from './support/test-terminal.js'

describe('migrate', () => {
  it('says that a store needs no setup', async () => {
    const terminal = new TestTerminal()
    expect(await terminal.run('migrate')).toMatchObject({
      code: 0,
      output: 'the local store needs no setup\n',
      errors: '',
    })
    const { output } = await terminal.run('migrate --output json')
    expect(JSON.parse(output)).toEqual({ store: 'local', migrated: false })
  })

  it('fails if the server cannot be reached, and says so', async () => {
    const { code, output, errors } = await new TestTerminal().run('migrate --store postgres://127.0.0.1:1/none')
    expect({ code, output }).toEqual({ code: 69, output: '' })
    expect(errors).toMatch(/^leasehold: .*ECONNREFUSED/)
  })
})
