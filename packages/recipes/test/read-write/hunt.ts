/** Hunts for a deliberate bug of `ReadWriteLease`; bundled with it. */
import { casSubject } from '@leasehold/testing/cas-subject'
import { memorySubject } from '@leasehold/testing/memory-subject'
import { readWriteLaws } from '../laws/read-write.js'
import { hunt, onEach } from '../support/hunt.js'
import { scenario } from './scenario.js'
import { readWriteLease } from './subject.js'

await hunt({ laws: readWriteLaws, subjects: onEach([memorySubject, casSubject], readWriteLease), scenario })
