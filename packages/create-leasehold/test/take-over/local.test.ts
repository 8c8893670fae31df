import { describeService } from '../support/describe-service.js'

describeService('local', { right: () => ({}) })
