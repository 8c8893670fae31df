import assert from 'node:assert/strict'
import { LeaseNameError } from '@leasehold/core'
import { law, lawFor } from '../law.js'
import type { StoreLaw, StoreTrial } from '../store-trial.js'

/** Each of these names is another lease. */
async function areDistinct(trial: StoreTrial, names: readonly string[]): Promise<void> {
  const client = await trial.open()
  for (const [place, name] of names.entries()) {
    const outcome = await trial.acquire(client, { name, owner: `owner ${place}` })
    assert(outcome.granted, `'${name}' is taken for another of ${JSON.stringify(names)}`)
    assert.equal(outcome.grant.name, name)
  }
  for (const [place, name] of names.entries()) {
    const record = await client.read(name, trial.call)
    assert.equal(record?.name, name)
    assert.equal(record.owner, `owner ${place}`)
  }
}

export const storeNameLaws: readonly StoreLaw[] = [
  lawFor(['any-name'], 'names', 'names that differ in case are different', (trial) => {
    return areDistinct(trial, [`${trial.name}-a`, `${trial.name}-A`, trial.name.toUpperCase()])
  }),
  lawFor(['any-name'], 'names', 'names of any script are accepted', (trial) => {
    return areDistinct(
      trial,
      ['заявка', '租約', 'عقد', '🔒', 'ﬁ', 'fi', 'ß', 'ss'].map((name) => `${trial.name}-${name}`),
    )
  }),
  lawFor(['any-name'], 'names', 'names that look alike in Unicode are different', (trial) => {
    return areDistinct(trial, [
      `${trial.name}-\u00e9`,
      `${trial.name}-e\u0301`,
      `${trial.name}-\u212b`,
      `${trial.name}-\u00c5`,
    ])
  }),
  lawFor(['any-name'], 'names', 'names of separators, dots, spaces and escapes are different', (trial) => {
    const odd = [
      'a/b',
      'a\\b',
      'a.b',
      'a..b',
      'a b',
      'a_b',
      'a-b',
      'a--b',
      'a%2Fb',
      'a%2fb',
      'a:b',
      'a+b',
      'a*b',
      'a\tb',
      '../a',
      'a/../b',
    ]
    return areDistinct(
      trial,
      odd.map((name) => `${trial.name} ${name}`),
    )
  }),
  lawFor(['any-name'], 'names', 'names that end alike or begin alike are different', (trial) => {
    return areDistinct(trial, [
      trial.name,
      `${trial.name}.`,
      `${trial.name} `,
      `${trial.name}/`,
      `/${trial.name}`,
      `${trial.name}0`,
    ])
  }),
  lawFor(['any-name'], 'names', 'a name may have 1,024 bytes, and its last character counts', (trial) => {
    const long = trial.name.padEnd(1_023, 'x')
    return areDistinct(trial, [`${long}a`, `${long}b`, long])
  }),
  law('names', 'a name of more than 1,024 bytes is rejected with a LeaseNameError', async (trial) => {
    const client = await trial.open()
    await assert.rejects(trial.acquire(client, { name: 'x'.repeat(1_025) }), LeaseNameError)
    await assert.rejects(trial.acquire(client, { name: 'é'.repeat(513) }), LeaseNameError)
  }),
  law('names', 'a name that is empty or malformed Unicode is rejected with a LeaseNameError', async (trial) => {
    const client = await trial.open()
    await assert.rejects(trial.acquire(client, { name: '' }), LeaseNameError)
    await assert.rejects(trial.acquire(client, { name: 'a\ud800' }), LeaseNameError)
  }),
  law('names', 'an owner of any script is returned unchanged', async (trial) => {
    const client = await trial.open()
    const owner = 'владелец ☂ "quoted" \\ é e\u0301'
    await trial.granted(client, { owner })
    assert.equal((await trial.read(client))?.owner, owner)
  }),
]
