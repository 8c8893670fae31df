/** Hunts for a deliberate bug of `LockManager`; bundled with it. */
import { casSubject } from '@leasehold/testing/cas-subject'
import { memorySubject } from '@leasehold/testing/memory-subject'
import { lockManagerLaws } from '../laws/lock-manager.js'
import { hunt, onEach } from '../support/hunt.js'
import { scenario } from './scenario.js'
import { lockManager } from './subject.js'

await hunt({ laws: lockManagerLaws, subjects: onEach([memorySubject, casSubject], lockManager), scenario })
