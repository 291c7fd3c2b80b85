/// Words and their stems, as Snowball 3.0.1 gives them (https://snowballstem.org).
let stemSample = """
    a a, abomasal abomas, abrasiveness abras, acquite acquit, activate activ, added add, adding add, adjustable adjust, \
    adjustment adjust, adoption adopt, adulteries adulteri, affectional affect, affrightful affright, affrights affright, \
    agreed agre, agreedly agre, airbound airbound, airliner airlin, aldermanity alderman, allowance allow, \
    alveolarly alveolar, ambiguousnesses ambigu, amebas ameba, aminoplast aminoplast, amoristic amorist, \
    amphictyony amphictyoni, amylolytic amylolyt, an an, analogously analog, andes andes, angularity angular, \
    anhydrides anhydrid, annulet annulet, apologist apolog, apology apolog, apotheoses apotheos, appendicular appendicular, \
    appreciable appreci, appropriative appropri, arapaimas arapaima, arsenal arsenal, arsenic arsenic, artier artier, \
    ascendant ascend, askaris askari, aspirer aspir, atlas atlas, aumbry aumbri, avoid avoid, backstitch backstitch, \
    baladines baladin, ballgown ballgown, be be, bead bead, bed bed, bedward bedward, beefsteaks beefsteak, \
    bentgrass bentgrass, beslimes beslim, bestreaks bestreak, bias bias, bibliologist bibliolog, binder binder, \
    binders binder, bishopdom bishopdom, blenched blench, bohriums bohrium, bottling bottl, bourns bourn, bowdlerize bowdler, \
    bowed bow, boy boy, brigantine brigantin, broadway broadway, bubbling bubbl, buckayros buckayro, budgerows budgerow, \
    bugle bugl, bunkoed bunko, bus bus, by by, calamari calamari, callousness callous, camail camail, camps camp, \
    canfuls can, canning canning, carcinologists carcinolog, carelessly careless, caresses caress, carouser carous, \
    cease ceas, ceratopsians ceratopsian, cercopithecid cercopithecid, chaperonage chaperonag, chassed chass, \
    chibouque chibouqu, chiels chiel, chilis chili, chimney chimney, chivaree chivare, cholinergic cholinerg, cinches cinch, \
    cinemicrography cinemicrographi, clacker clacker, clamorousness clamor, clearcole clearcol, climatal climat, \
    climatical climat, coagulants coagul, cochampion cochampion, coeffect coeffect, cohibitions cohibit, coiling coil, \
    colorbreeds colorbre, combustor combustor, comfort comfort, commandingly command, comment comment, commune commune, \
    communion communion, communism communism, community communiti, complice complic, compony componi, conciliator concili, \
    conditional condit, conformably conform, contos conto, contrariwise contrariwis, controll control, controlling control, \
    contumacies contumaci, copious copious, cordotomy cordotomi, coronas corona, cosmos cosmos, course cours, \
    cranreuchs cranreuch, crenshaws crenshaw, cried cri, cries cri, crueller crueller, cry cri, cryotherapy cryotherapi, \
    cuisine cuisin, cutoff cutoff, cyclopropane cyclopropan, decisiveness decis, decussate decuss, deepwaterman deepwaterman, \
    defaced defac, defensible defens, deluxe delux, demystifier demystifi, dentalia dentalia, denunciators denunci, \
    dependent depend, dermatoplastic dermatoplast, devilfish devilfish, dexters dexter, dickheads dickhead, dieted diet, \
    differently differ, digitizer digit, digressive digress, dinitrophenol dinitrophenol, dioxide dioxid, \
    discipleship discipleship, disfeatured disfeatur, disgown disgown, dishevelment dishevel, disjoined disjoin, \
    dismission dismiss, distemper distemp, doblones doblon, doloriferous dolorifer, drawoff drawoff, driftnet driftnet, \
    dripper dripper, dualism dualism, dying die, eager eager, early earli, earring earring, ebbing ebb, echard echard, \
    effective effect, egged egg, electrical electr, electricity electr, electrums electrum, elevated elev, embed emb, \
    emerald emerald, emerge emerg, emergency emergenc, eminency emin, encephalogram encephalogram, endlessly endless, \
    enjoy enjoy, entranceways entranceway, ephemeridian ephemeridian, equanimously equanim, ergatomorphs ergatomorph, \
    espial espial, etens eten, etherial etheri, evening evening, evenings evening, exactingly exact, examinees examine, \
    exceed exceed, exceedingly exceed, exceeds exceed, extensibility extens, eyesight eyesight, failing fail, \
    falderols falderol, falling fall, farded fard, farfalle farfall, fatwood fatwood, feed feed, feedholes feedhol, \
    feeds feed, feoffed feof, ferrotypes ferrotyp, feudalism feudal, filing file, finner finner, fitchew fitchew, \
    fizzed fizz, flatcaps flatcap, fluorspars fluorspar, fluted flute, flying fli, formality formal, formalize formal, \
    formative format, founds found, frater frater, friskily friskili, frouziest frouziest, fruitfuller fruitful, fully fulli, \
    gallicisms gallic, gaps gap, gas gas, gasser gasser, general general, generate generat, generic generic, \
    geniculating genicul, gently gentl, geology geolog, ghostier ghostier, gimmer gimmer, gliding glide, goodness good, \
    goosefoots goosefoot, granitewares granitewar, grogging grog, grottily grottili, guereza guereza, guillemots guillemot, \
    gunstick gunstick, gyroscopic gyroscop, hagbolts hagbolt, hales hale, hangups hangup, happy happi, haunched haunch, \
    hayride hayrid, headwear headwear, helioscopic helioscop, helis heli, hereabout hereabout, hermaean hermaean, \
    herring herring, herrings herring, hesitancy hesit, hexyls hexyl, highborn highborn, highermost highermost, \
    highths highth, hindfoot hindfoot, hissing hiss, hoaxes hoax, hoiden hoiden, holidayers holiday, homologous homolog, \
    hoped hope, hopeful hope, hopefulness hope, hoping hope, hopped hop, hopping hop, howe howe, hulkiest hulkiest, \
    hydrocorals hydrocor, hydromorphic hydromorph, hypanthium hypanthium, idly idl, idolizer idol, ignitron ignitron, \
    imaginabilities imagin, imbroccatas imbroccata, impeachment impeach, implodents implod, imputer imput, inbreeder inbreed, \
    indevout indevout, indocible indoc, infare infar, inference infer, infield infield, ingenuities ingenu, \
    inharmony inharmoni, inning inning, innings inning, inscrolls inscrol, intermenstrual intermenstru, interzone interzon, \
    intestates intest, intricacy intricaci, intrusively intrus, ironlike ironlik, ironmongery ironmongeri, irritant irrit, \
    is is, italianizes italian, jaggier jaggier, jambed jamb, jetway jetway, kailyards kailyard, karateist karateist, \
    kindergarten kindergarten, kiss kiss, kissoffs kissoff, kiwis kiwi, knead knead, laccolith laccolith, \
    lackadaisicalness lackadaisic, laminates lamin, laryngologies laryngolog, later later, lateral lateral, latitats latitat, \
    leprose lepros, lightful light, loincloth loincloth, lovely love, lusher lusher, lustless lustless, luxuriated luxuri, \
    lying lie, lymphangitis lymphang, madbrain madbrain, mafficked maffick, magnetosphere magnetospher, maildrops maildrop, \
    mandilion mandilion, manifoldnesses manifold, manifolds manifold, marmelize marmel, marshland marshland, \
    masculinizes masculin, masturbatory masturbatori, megagametophyte megagametophyt, merlin merlin, mesosome mesosom, \
    messieurs messieur, methylates methyl, microwaved microwav, mimetite mimetit, minorship minorship, \
    misinstructs misinstruct, mistrace mistrac, monomorphemic monomorphem, mowburns mowburn, muckraker muckrak, \
    muleskinner muleskinn, multicultural multicultur, muscone muscon, musquash musquash, natational natat, \
    nationality nation, nattery natteri, necrology necrolog, need need, neoclassicisms neoclassic, news news, \
    nipperkins nipperkin, nitrobenzene nitrobenzen, noncollinear noncollinear, noncoms noncom, noncorrodible noncorrod, \
    nybbles nybbl, occasionality occasion, offing off, oldnesses old, oncovirus oncovirus, only onli, opacify opacifi, \
    operator oper, optometry optometri, ordinand ordinand, organic organic, organization organiz, outgnaws outgnaw, \
    outing outing, outings outing, outstrains outstrain, outswinger outswing, overdrinks overdrink, overmixing overmix, \
    oversells oversel, palabras palabra, paralytics paralyt, parbuckle parbuckl, passbook passbook, past past, paste paste, \
    pasted paste, pasts past, pavages pavag, peduncle peduncl, peninsulas peninsula, perimysia perimysia, \
    perinephria perinephria, permutably permut, persicots persicot, philosophism philosoph, phosphatidic phosphatid, \
    phosphofructokinase phosphofructokinas, physharmonica physharmonica, physicalize physic, pickapack pickapack, \
    pickerelweed pickerelwe, picklock picklock, pickover pickov, pinchpoint pinchpoint, piscary piscari, \
    pithecanthropoid pithecanthropoid, pixellate pixel, planetology planetolog, plano plano, plummest plummest, \
    pochoirs pochoir, podsolic podsol, poesied poesi, pogonias pogonia, polemoniaceous polemoniac, \
    polybutadienes polybutadien, ponies poni, popjoyed popjoy, poppish poppish, porterhouse porterhous, possibly possibl, \
    postembryonic postembryon, poststimulus poststimulus, potions potion, preambular preambular, preassigns preassign, \
    predication predic, premunire premunir, prenomen prenomen, preschedule preschedul, preworks prework, probate probat, \
    proceed proceed, proceeding proceed, procidence procid, produced produc, psychodiagnosis psychodiagnosi, pugilism pugil, \
    pugnacious pugnaci, pyroclastics pyroclast, quartzes quartz, queachy queachi, quickly quick, racecourse racecours, \
    raclette raclett, radically radic, rampacious rampaci, rate rate, rational ration, raunch raunch, readapted readapt, \
    reaffixes reaffix, recommend recommend, redbelly redbelli, redfishes redfish, refloods reflood, refundments refund, \
    refurbisher refurbish, rehammer rehamm, reindustrialize reindustri, relational relat, relief relief, replacement replac, \
    reportedly report, reposefully repos, rescreen rescreen, respade respad, retranslating retransl, revindicate revind, \
    revival reviv, rhabdomyomata rhabdomyomata, rhinoscope rhinoscop, roll roll, rootles rootl, rouche rouch, royals royal, \
    runnets runnet, salaams salaam, sample sampl, santon santon, sarcosomal sarcosom, say say, scattershot scattershot, \
    schizogenic schizogen, scissile scissil, scribes scribe, scrummages scrummag, searoom searoom, seascout seascout, \
    secure secur, selfs self, semilogarithmic semilogarithm, sensibility sensibl, sensitivity sensit, serotyping serotyp, \
    serry serri, shed shed, shoreless shoreless, shred shred, sicklemia sicklemia, sidesaddle sidesaddl, simoon simoon, \
    singly singl, sitomania sitomania, sized size, skies sky, skokiaans skokiaan, skunkbirds skunkbird, sky sky, \
    slipperily slipperili, slopwork slopwork, snared snare, soapboxed soapbox, sophistic sophist, sourishly sourish, \
    southeaster southeast, spacecrafts spacecraft, speedboat speedboat, sperms sperm, spokesperson spokesperson, \
    sponsorships sponsorship, sporophore sporophor, sprechery sprecheri, spritsails spritsail, squamation squamat, \
    stainlesses stainless, stengahs stengah, stenographically stenograph, stepneys stepney, stragglings straggl, \
    strakes strake, stuntman stuntman, styliform styliform, subduces subduc, subedits subedit, subtonic subton, \
    succeed succeed, succeeded succeed, succeeding succeed, supercivilization supercivil, swarved swarv, syzygy syzygi, \
    tablefuls tabl, taciturnly taciturn, tanned tan, teenaged teenag, teetotaling teetot, televiewer teleview, \
    tenacula tenacula, tenant tenant, tenebrionids tenebrionid, teraph teraph, terpsichoreal terpsichor, texting text, \
    the the, thermoscope thermoscop, thermotensile thermotensil, this this, tied tie, ties tie, tightly tight, \
    tituping titup, toeshoes toesho, tolyl tolyl, tongued tongu, toolkit toolkit, trampolins trampolin, tranquility tranquil, \
    transcontinentally transcontinent, trapball trapbal, treadmill treadmil, triboelectricity triboelectr, \
    triplicate triplic, tripodal tripod, trombone trombon, troubled troubl, trying tri, tuckets tucket, twanky twanki, \
    tying tie, ugly ugli, unambiguous unambigu, unaugmented unaug, unbrake unbrak, undeceivably undeceiv, \
    undertricks undertrick, ungrazed ungraz, unheedingly unheed, unifies unifi, universal universal, universe univers, \
    university universiti, unluckinesses unlucki, unnavigable unnavig, unreluctant unreluct, unshamed unsham, \
    unsouled unsoul, unsubtly unsubt, unsymmetrical unsymmetr, uvulars uvular, vacuate vacuat, vaginant vagin, \
    valency valenc, values valu, vanner vanner, vietnamization vietnam, vilely vile, viscometric viscometr, \
    vraisemblance vraisembl, vying vie, waddlers waddler, wallcharts wallchart, walloping wallop, waned wane, \
    waylayer waylay, whinberries whinberri, whirlabouts whirlabout, whirlwinds whirlwind, wholemeal wholem, \
    whunstanes whunstan, wineskin wineskin, wiped wipe, workwoman workwoman, wortle wortl, yawns yawn, yearbooks yearbook, \
    yelloched yelloch, yellow yellow, yes yes, youth youth, zincifies zincifi, zooplastic zooplast, zorilla zorilla, \
    zouaves zouav
    """
