/** Hunts for a deliberate bug of `Once`; bundled with it. */
import { casSubject } from '@leasehold/testing/cas-subject'
import { memorySubject } from '@leasehold/testing/memory-subject'
import { onceLaws } from '../laws/once.js'
import { hunt, onEach } from '../support/hunt.js'
import { scenario } from './scenario.js'
import { once } from './subject.js'

await hunt({ laws: onceLaws, subjects: onEach([memorySubject, casSubject], once), scenario })
