import { casSubject } from '@leasehold/testing/cas-subject'
import { memorySubject } from '@leasehold/testing/memory-subject'
import { type ReadWriteLawOptions, type ReadWriteUnderTest, readWriteLaws } from '@leasehold/testkit/recipes'
import { ReadWriteLease } from '../../src/index.js'
import { hunt, onEach } from '../support/hunt.js'
import { scenario } from './scenario.js'

await hunt<ReadWriteUnderTest, ReadWriteLawOptions>({
  laws: readWriteLaws,
  subjects: onEach([memorySubject, casSubject], {
    name: 'ReadWriteLease',
    create: ({ store, name, leaseOptions }, options) =>
      new ReadWriteLease(store, { ...leaseOptions, ...options, name }),
  }),
  scenario,
})
