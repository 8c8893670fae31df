import { casSubject } from '@leasehold/testing/cas-subject'
import { memorySubject } from '@leasehold/testing/memory-subject'
import { type SemaphoreLawOptions, type SemaphoreUnderTest, semaphoreLaws } from '@leasehold/testkit/recipes'
import { Semaphore } from '../../src/index.js'
import { hunt, onEach } from '../support/hunt.js'
import { scenario } from './scenario.js'

await hunt<SemaphoreUnderTest, SemaphoreLawOptions>({
  laws: semaphoreLaws,
  subjects: onEach([memorySubject, casSubject], {
    name: 'Semaphore',
    create: ({ store, name, leaseOptions }, options) => new Semaphore(store, { ...leaseOptions, ...options, name }),
  }),
  scenario,
})
