"""Names of services whose keys have no form of their own: a hash or a UUID after `todoist_key` is a key.

Lower case, letters and digits only. Words that are common in code (`cache`, `front`, `query`) are left out on purpose,
save where the service is known by no other name.
"""

from __future__ import annotations

PROVIDERS = frozenset(
    """
    abbysale abstractapi abuseipdb accuweather activecampaign adafruit adobe adzuna aeroworkflow agora aha aikido
    airbrake airship airtable airvisual aiven alchemy alegra aletheia algolia alibaba alienvault allsports
    alphavantage amadeus ambee amplitude amplitudeapi anthropic anypoint apacta apiary apideck apiflash apifonica
    apify apilayer apimatic apimetrics apininjas apitemplate apollo appcues appdynamics appfollow applovin
    appointedd appoptics appsflyer appsmith appsynergy apptivo appveyor artifactory artsy asana assemblyai atera
    atlassian audd auth0 authress autodesk autoklose autopilot avaza aviationstack aws axonaut aylien ayrshare azure
    azuresearch bannerbear baremetrics baseapi beamer beebole besnappy bestlicense besttime betterstack billomat
    bing bitbar bitbucket bitcoinaverage bitfinex bitgo bitly bitmex bitrise bittrex blablabus blazemeter blitapp
    blocknative blogger blynk bombbomb boostnote borgbase botify braintree brandfetch brave braze brevo browserstack
    browshot bscscan buddy buddyns budibase bugherd bugsnag buildkite bulbul bulksms buttercms caflou calendarific
    calendly calorieninja campaignmonitor campayo canny cannyio capella capsulecrm captaindata carboninterface
    cashboard caspio cdnjs censys centralstationcrm cexio chainstack chartmogul chatbot chatfuel chatwork checkio
    checklyhq checkvist cicero circleci clarifai clearbit clickhelp clickhouse clicksend clicksendsms clickup
    cliengo clientary clinchpad clockify clockworksms closecrm cloudconvert cloudelements cloudflare cloudimage
    cloudinary cloudmersive cloudplan cloudsight cloudsmith cloverly cloze clustdoc coda codacy codecov codemagic
    codequiry cohere coinapi coinbase coingecko coinlayer coinlib coinmarketcap collect2 commercejs commodities
    companyhub confluent contentful contentstack conversiontools convertapi convertkit convier copper copyleaks
    copyscape couchbase coveralls craftmypdf crawlbase crowdin crowdstrike cryptocompare currencycloud
    currencyfreaks currencylayer currencyscoop currents currentsapi customerguru customerio d7network dailyco
    dailyhumidity dandelion dareboot databox databricks datadog datagov datastax debounce deepai deepgram deepl
    deepseek deezer delighted delivra demio dendreo denodo deputy desklog detectify detectlanguage devcycle dfuse
    diffbot diggernaut digitalocean discogs discord discourse disqus ditto dnscheck docker dockerhub docparser
    documo docusign doppler dotdigital dotmailer dovico dronahq drone droneci dropbox dtrack duply dwolla dynalist
    dynatrace dyspatch eagleeyenetworks easyinsight ecostruxureit edamam edenai eightxeight elastic elasticemail
    elasticsearch elevenlabs enablex endorlabs enigma envoy envoyapi eodhd eraser esputnik etherscan ethplorer etsy
    eventbrite everhour exchangerate exchangeratesapi exoscale exportsdk extractorapi facebook faceplusplus
    fastforex fastly fastspring feedier fetchrss fibery figma fileio finage finnhub firebase fireworks fixer fixerio
    flatio fleetbase flexport flickr flightapi flightlabs flightstats floatrates flowflu flutterwave fmfw formbucket
    formcraft formio formsite foursquare frameio freemius freshbooks freshdesk freshservice frontapp fulcrum
    fullstory fusebill fxmarket gcp geckoboard gemini gengo geoapify geocode geocodify geocodio geoipifi getemail
    getemails getgeoapi getgist getresponse getsandbox ghost giphy gist gitea github gitlab gitter glassnode gnews
    gocanvas gocardless godaddy goodday google gosquared grafana graphcms graphhopper groovehq groq gtmetrix
    guardian guardianapi gumroad guru gyazo happyscribe harness harvest hasura heatmapapi hellosign helpcrunch
    helpscout heroku hetzner highnote hiveage holidayapi honeybadger honeycomb hostinger hotjar html2pdf hubspot
    huggingface humanity hunter hybiscus hypeauditor hypertrack ibm iconfinder iexapis iexcloud imagekit imagga
    impala influxdb infobip infura insightly instabot instagram instamojo integromat intercom interseller intrinio
    invoiceocean ionic ipapi ipdata ipgeolocation ipify ipinfo ipinfodb ipquality ipqualityscore ipstack jenkins
    jfrog jina jira jotform jsonbin jumpcloud jumpseller juro kairos kaleyra kanban kanbantool karma karmacrm keenio
    keycdn kickbox klaviyo klipfolio knapsackpro kontent kraken kucoin kylas languagelayer lark lastfm launchdarkly
    leadfeeder lemlist lemonsqueezy lendflow lessannoyingcrm lever lexigram libratometrics lightson linear
    linemessaging linenotify linkedin linkpreview linode liveagent livestorm loadmill lob locationiq logentries
    loggly loginradius logz logzio lokalise looker loom looticket loqate loyverse magicbell magnetic mailboxlayer
    mailboxvalidator mailchimp mailerlite mailersend mailgun mailjet mailmodo mailsac mandrill mapbox mapquest
    marketstack mattermost mavenlink maxmind mediastack meetup meistertask mercadopago mesibo messagebird metaapi
    metabase metrilo microsoftteams mindmeister mistral mite mixcloud mixmax mixpanel mockaroo monday mongodb
    monkeylearn moonclerk moonshot moosend moralis mrticktock mux myexperiment myfreshworks nasa nasdaq neon netcore
    netlify neutrino neutrinoapi newrelic newsapi newscatcher newsdata nexmo nftport ngc ngrok nicereply nightfall
    nimble noticeable notion nozbe nozbeteams npm nuget numverify nutritionix nvidia nylas nytimes oanda octopus
    okta omnisend onbuka onedesk onelogin onepagecrm onesignal onfido onfleet oopspam openai opencage opencagedata
    openrouter openuv openvpn openweather openweathermap opsgenie optidash optimizely overloop owlbot owm
    packagecloud pagarme pagerduty palantir pandadoc pandascore paperform paralleldots parsehub parseur partnerstack
    passbase pastebin paydirtapp paymo paymoapp paymongo paypal paystack pdflayer pdfshift peopledatalabs pepipost
    percy perplexity phrase pinata pinecone pinterest pipedream pipedrive pivotaltracker pixabay plaid planetscale
    planview planviewleankit planyo plivo podio polargrid pollsapi poloniex polygon polygonio portainer portkey
    positionstack postageapp postbacks posthog postman postmark powrbot prefect prerender privateai prodpad prospect
    prospectcrm protocolsio proxycrawl pubnub pulumi purestake pushbullet pusher pyowm qase qualaroo qualtrics
    qubole quickmetrics rabbitmq rainforest rapidapi raven rawg razorpay reachmail reallysimplesystems rebrandly
    recaptcha recharge recombee recruitee recurly redis redmine refiner rentman replicate replyio requestfinance
    restpack revamp ringcentral riot ritekit roaring rocketreach rollbar roninapp rootly rosette route4me rownd
    rubygems runpod runrunit salesblink salescookie salesflare salesforce salesloft salesmate sanity satismeter
    saucelabs scaleway scalr scrapeowl scraperapi scraperbox scraperstack scrapestack scrapfly scrapin scrapingant
    scrapingbee screenshotapi screenshotlayer scrutinizer securitytrails segment selectpdf semaphore semrush
    sendbird sendbirdorganization sendgrid sendinblue sentry serpapi serphouse serpstack sheety sherpadesk shipday
    shippo shodan shopify shortcut shotstack shutterstock shutterstockoauth signable signalwire signaturit
    signupgenius sigopt simfin simplesat simplynoted simvoly sinch sirv siteleaf skrapp skrappio skybiometry slack
    smartsheet smartsheets smartystreets smooch snipcart snowflake snyk sonarcloud sonarqube sourcegraph sparkpost
    speechtext speechtextai splunk spoonacular sportradar sportsmonk spotify square squareapp squarespace squareup
    sslmate stability stackhawk starton statuscake statuspage statuspal stitchdata stockdata storecove stormboard
    stormglass storyblok storychief strava stripe stripo stytch sugester sumo sumologic supabase supernotes
    surveyanyplace surveybot surveymonkey surveysparrow survicate swiftype tableau tailscale tallyfy tatum tatumio
    tavily taxjar teamcity teamgate teamworkcrm teamworkdesk teamworkspaces technicalanalysisapi tefter telegram
    teletype telnyx terraform testingbot text2data textlocal textmagic theoddsapi thingsboard thinkific ticketmaster
    tickettailor tickspot tiingo timecamp timezoneapi tinypng tmdb todoist toggl tokeet tomorrowio tomtom tradier
    transferwise transifex travelpayouts travisci trello truenas twelvedata twilio twitch twitter tyntec typeform
    typetalk ubidots uclassify unplu unplugg unsplash upcdatabase upcloud uplead uploadcare uptimerobot upwave
    urlscan userflow userstack vagrantcloud valtown vatlayer vbout vercel verimail veriphone versioneye viewneo
    virustotal visualcrossing voiceflow voicegain voodoosms vouchery vpnapi vultr vyte walkscore weatherapi
    weatherbit weatherstack web3storage webex webflow webscraper webscraping websitepulse wepay whoxy wistia wiz
    woocommerce workato workos worksnaps workstack worldcoinindex worldweather wrike xai yandex yelp ynab
    youneedabudget yousign youtube zai zapier zapierwebhook zeliq zendesk zenkit zenrows zenscrape zenserp zeplin
    zerobounce zerotier zipapi zipbooks zipcodeapi zipcodebase zoho zohocrm zonkafeedback zoom zulip
    """.split()
)
