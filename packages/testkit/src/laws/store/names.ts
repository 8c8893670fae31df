import assert from 'node:assert/strict'
import { LeaseNameError } from '@leasehold/core'
import { type StoreLaw, type StoreTrial, storeLawsOf } from '../store-trial.js'

/** The name of the trial with each of the endings, which `|` separates. */
function endingIn(trial: StoreTrial, endings: string): string[] {
  return endings.split('|').map((ending) => `${trial.name}${ending}`)
}

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
  ...storeLawsOf('names', ['any-name'], {
    'names that differ in case are different': (trial) =>
      areDistinct(trial, [`${trial.name}-a`, `${trial.name}-A`, trial.name.toUpperCase()]),
    'names of any script are accepted': (trial) =>
      areDistinct(trial, endingIn(trial, '-заявка|-租約|-عقد|-🔒|-ﬁ|-fi|-ß|-ss')),
    'names that look alike in Unicode are different': (trial) =>
      areDistinct(trial, endingIn(trial, '-\u00e9|-e\u0301|-\u212b|-\u00c5')),
    'names of separators, dots, spaces and escapes are different': (trial) => {
      const plain = ' a/b| a\\b| a.b| a..b| a b| a_b| a-b| a--b| a:b| a+b| a*b| a\tb'
      return areDistinct(trial, endingIn(trial, `${plain}| a%2Fb| a%2fb| ../a| a/../b`))
    },
    'names that end alike or begin alike are different': (trial) =>
      areDistinct(trial, [...endingIn(trial, '|.| |/|0'), `/${trial.name}`]),
    'a name may have 1,024 bytes, and its last character counts': (trial) => {
      const long = trial.name.padEnd(1_023, 'x')
      return areDistinct(trial, [`${long}a`, `${long}b`, long])
    },
  }),
  ...storeLawsOf('names', [], {
    async 'a name of more than 1,024 bytes is rejected with a LeaseNameError'(trial, client) {
      await assert.rejects(trial.acquire(client, { name: 'x'.repeat(1_025) }), LeaseNameError)
      await assert.rejects(trial.acquire(client, { name: 'é'.repeat(513) }), LeaseNameError)
    },
    async 'a name that is empty or malformed Unicode is rejected with a LeaseNameError'(trial, client) {
      await assert.rejects(trial.acquire(client, { name: '' }), LeaseNameError)
      await assert.rejects(trial.acquire(client, { name: 'a\ud800' }), LeaseNameError)
    },
    async 'an owner of any script is returned unchanged'(trial, client) {
      const owner = 'владелец ☂ "quoted" \\ é e\u0301'
      await trial.granted(client, { owner })
      assert.equal((await trial.read(client))?.owner, owner)
    },
  }),
]
