/** Hunts for a deliberate bug of `Once`; bundled with it. */
import { Once } from '@leasehold/recipes'
import { casSubject } from '@leasehold/testing/cas-subject'
import { memorySubject } from '@leasehold/testing/memory-subject'
import { onceLaws } from '@leasehold/testkit/recipes'
import { hunt, onEach } from '../support/hunt.js'
import { scenario } from './scenario.js'

const subjects = onEach([memorySubject, casSubject], {
  name: 'Once',
  create: ({ store, leaseOptions }) => new Once(store, leaseOptions),
})
await hunt({ laws: onceLaws, subjects, scenario })
